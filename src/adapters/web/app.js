"use strict";
(() => {
  const body = document.body;
  const news = document.getElementById("news");
  let waiting = false;
  let pressed = false;

  // A form that somebody fills in is not taken away under their hands, nor a button while it is pressed.
  const isBusy = () => {
    const at = document.activeElement;
    return Boolean(pressed || (at && at.matches("input")) || document.querySelector(".dragged"));
  };

  // What somebody opened stays open, and what they typed stays typed. A question is known by its command.
  const parts = (root) => [...root.querySelectorAll("details[id], details.ask")];
  const nameOf = (part) => part.id || part.querySelector("button").title;
  function carryOver(old, fresh) {
    const earlier = new Map(parts(old).map((part) => [nameOf(part), part]));
    for (const part of parts(fresh)) {
      const before = earlier.get(nameOf(part));
      if (!before) continue;
      part.open = part.open || before.open;
      if (part.matches(".ask")) {
        part.querySelector("[name=reason]").value = before.querySelector("[name=reason]").value;
      }
    }
  }

  // Times as people say them; the exact one is one hover away.
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const ago = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
  function tellTimes(root) {
    for (const one of root.querySelectorAll("time[datetime]")) {
      const seconds = (new Date(one.dateTime) - Date.now()) / 1000;
      if (Number.isNaN(seconds)) continue;
      const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) || ["minute", 60];
      one.title = one.dateTime;
      const text = Math.abs(seconds) < 60 ? "just now" : ago.format(Math.trunc(seconds / size), unit);
      if (one.textContent !== text) one.textContent = text;
    }
  }
  setInterval(() => document.hidden || tellTimes(document), 20000);

  async function refresh() {
    if (isBusy()) {
      waiting = true;
      return;
    }
    waiting = false;
    let text;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (!answer.ok) return;
      text = await answer.text();
    } catch {
      return;
    }
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
    const old = document.getElementById("live");
    if (!fresh || !old) return;
    if (isBusy()) {
      waiting = true;
      return;
    }
    tellTimes(fresh);
    if (fresh.isEqualNode(old)) return;
    carryOver(old, fresh);
    const scrolled = old.querySelector(".scroll");
    const place = scrolled ? [scrolled.scrollLeft, scrolled.scrollTop] : null;
    old.replaceWith(document.adoptNode(fresh));
    const again = document.querySelector(".scroll");
    if (again && place) [again.scrollLeft, again.scrollTop] = place;
    prepare();
    news.textContent = "Updated at " + new Date().toLocaleTimeString();
  }

  // News, as long as the page can be seen: a browser has few connections for one server.
  let source = null;
  function listen() {
    if (source || !body.dataset.events || document.hidden) return;
    const live = document.getElementById("live");
    const since = live ? live.dataset.revision || "" : "";
    source = new EventSource(body.dataset.events + "?revision=" + encodeURIComponent(since));
    source.addEventListener("change", refresh);
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && source) {
      source.close();
      source = null;
    } else if (!document.hidden) {
      listen();
      refresh();
    }
  });
  const catchUp = () => setTimeout(() => waiting && refresh(), 200);
  document.addEventListener("focusout", catchUp);
  document.addEventListener("pointerdown", () => (pressed = true));
  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => {
      pressed = false;
      catchUp();
    });
  }
  if (body.dataset.poll) setInterval(() => document.hidden || refresh(), Number(body.dataset.poll));

  // Cards: a column takes one only if the card has a form that leads there.
  const formTo = (card, status) =>
    [...card.querySelectorAll("form[data-to]")].find((form) => form.dataset.to === status);
  document.addEventListener("dragstart", (event) => {
    const card = event.target.closest ? event.target.closest(".card[draggable]") : null;
    if (!card) return;
    card.classList.add("dragged");
    event.dataTransfer.setData("text/plain", card.dataset.step);
    event.dataTransfer.effectAllowed = "move";
  });
  document.addEventListener("dragend", () => {
    for (const card of document.querySelectorAll(".dragged")) card.classList.remove("dragged");
    for (const column of document.querySelectorAll(".target")) column.classList.remove("target");
  });
  document.addEventListener("dragover", (event) => {
    const column = event.target.closest ? event.target.closest(".column") : null;
    const card = document.querySelector(".dragged");
    for (const other of document.querySelectorAll(".target")) if (other !== column) other.classList.remove("target");
    if (!column || !card || !formTo(card, column.dataset.status)) return;
    event.preventDefault();
    column.classList.add("target");
  });
  document.addEventListener("drop", (event) => {
    const column = event.target.closest ? event.target.closest(".column") : null;
    const card = document.querySelector(".dragged");
    const form = column && card ? formTo(card, column.dataset.status) : null;
    if (!form) return;
    event.preventDefault();
    const ask = form.closest("details.ask");
    if (ask) {
      ask.open = true;
      const more = ask.closest("details.more");
      if (more) more.open = true;
      form.querySelector("input[name=reason]").focus();
    } else {
      form.requestSubmit();
    }
  });

  // The graph: what a step waits for and what waits for it, on a click or Enter.
  function lineage(box) {
    const graph = box.closest("svg");
    const boxes = new Map([...graph.querySelectorAll("g[data-step]")].map((one) => [one.dataset.step, one]));
    const before = (one) => one.dataset.after.split(" ").filter((name) => boxes.has(name));
    const was = box.classList.contains("chosen");
    for (const one of boxes.values()) one.classList.remove("on", "chosen");
    graph.classList.toggle("lineage", !was);
    if (was) return;
    const reach = (start, next) => {
      const found = new Set(start);
      for (const name of found) for (const more of next(name)) found.add(more);
      return found;
    };
    const after = new Map();
    for (const [name, one] of boxes) {
      for (const earlier of before(one)) after.set(earlier, [...(after.get(earlier) || []), name]);
    }
    const own = [box.dataset.step];
    const all = [...reach(own, (name) => before(boxes.get(name))), ...reach(own, (name) => after.get(name) || [])];
    for (const name of all) boxes.get(name).classList.add("on");
    box.classList.add("chosen");
  }
  document.addEventListener("click", (event) => {
    const box = event.target.closest ? event.target.closest("g[data-step]") : null;
    if (box) lineage(box);
  });
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest ? event.target.closest("g[data-step]") : null;
    if (box && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      lineage(box);
    }
  });

  // The slider names the moment under it, and goes there when it is let go.
  document.addEventListener("input", (event) => {
    if (event.target.id !== "moment") return;
    const named = document.querySelector(`#moments option[value="${event.target.value}"]`);
    if (named) document.getElementById("moment-name").textContent = named.label;
  });
  document.addEventListener("change", (event) => {
    if (event.target.id === "moment") event.target.form.requestSubmit();
  });

  function prepare() {
    tellTimes(document);
    for (const graph of document.querySelectorAll("svg.graph")) graph.setAttribute("role", "group");
    for (const box of document.querySelectorAll("svg.graph g[data-step]")) {
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "button");
    }
  }
  prepare();
  listen();
})();
