//! What clients are answered.

use std::path::PathBuf;

use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
        ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
        ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::{
    kind::Conditions,
    prompts, resources, tools,
    worker::{LOCK_WAIT, Work, Worker},
};
use crate::{
    adapters::cli::in_process::{Caller, CommandAnswer},
    store::Cancellation,
    text::display::shorten,
    workspace::Environment,
};

/// The most of a client's name that becomes part of an actor.
const LONGEST_NAME: usize = 40;
/// The most of a call that goes into the log.
const LONGEST_COMMAND: usize = 300;

/// The server of one client.
#[derive(Debug)]
pub(super) struct Server {
    dir: Option<PathBuf>,
    actor: Option<String>,
    /// Tells this client's work from that of another with the same name.
    session: String,
    worker: Worker,
}

impl Server {
    pub(super) fn new(dir: Option<PathBuf>, actor: Option<String>, worker: Worker) -> Self {
        let session = format!("{:04x}", Environment::real("").random() & 0xffff);
        Self { dir, actor, session, worker }
    }

    async fn run(
        &self,
        work: Work,
        conditions: Conditions,
        command: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<CommandAnswer, ErrorData> {
        let caller = Caller {
            dir: self.dir.clone(),
            actor: conditions.actor.or_else(|| self.actor.clone()),
            client: Some(self.client(context)),
            via: None,
            if_match: conditions.if_match,
            dry_run: conditions.dry_run,
            wait: LOCK_WAIT,
            cancellation: Cancellation::default(),
            command,
        };
        let token = context.ct.clone();
        let answer = self.worker.run(work, caller, move || token.is_cancelled()).await;
        answer.ok_or_else(|| ErrorData::internal_error("the server is ending", None))
    }

    /// The client with a word that tells it from others of its name.
    fn client(&self, context: &RequestContext<RoleServer>) -> String {
        let name = context.client_info().map(|client| client.name).unwrap_or_default();
        let plain = |c: char| if c.is_control() || c.is_whitespace() { '-' } else { c };
        let name: String = name.trim().chars().map(plain).take(LONGEST_NAME).collect();
        let name = if name.is_empty() { "mcp" } else { &name };
        format!("{name}-{}", self.session)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let mut info = ServerConfig::new(capabilities).with_instructions(prompts::LOOP);
        info.server_info = Implementation::new("statedir", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all: Vec<Tool> = tools::TOOLS.iter().map(|kind| kind.describe()).collect();
        Ok(ListToolsResult::with_all_items(all))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(kind) = tools::find(&request.name) else {
            let names: Vec<&str> = tools::TOOLS.iter().map(|kind| kind.name).collect();
            let message =
                format!("there is no tool `{}`; there are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let command = logged(kind.name, &arguments);
        let answer = match kind.work(arguments) {
            Ok((work, conditions)) => self.run(work, conditions, command, &context).await?,
            Err(refusal) => refusal,
        };
        let failed = answer.exit != 0 || answer.document["ok"] != true;
        let result = if failed {
            CallToolResult::structured_error(answer.document)
        } else {
            CallToolResult::structured(answer.document)
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let work = resources::work(&request.uri)?;
        let answer =
            self.run(work, Conditions::default(), String::from("mcp read"), &context).await?;
        resources::contents(request.uri, answer).map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let result = match prompts::work(&request.name)? {
            None => prompts::start(request.arguments.as_ref())?,
            Some(work) => {
                let command = String::from("mcp prompt");
                prompts::resume(&self.run(work, Conditions::default(), command, &context).await?)
            }
        };
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method comes here when its parameters could not be read.
        let known = [
            "initialize", "prompts/get", "prompts/list", "resources/list", "resources/read",
            "server/discover", "tools/call", "tools/list",
        ];
        if known.contains(&request.method.as_str()) {
            let message = format!("the parameters of `{}` are not what it takes", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method `{}`", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}

/// A call as the operation log shows it; long ones are cut.
fn logged(tool: &str, arguments: &rmcp::model::JsonObject) -> String {
    let text = format!("mcp {tool} {}", serde_json::Value::from(arguments.clone()));
    shorten(&text, LONGEST_COMMAND).into_owned()
}
