-- Two roles for a fleet, with no more rights than they need. Run it once in the fleet's database, as its
-- owner, after `statedir fleet init`:
--
--   psql -d fleet -f examples/fleet-roles.sql
--   psql -d fleet -c "GRANT statedir_worker TO build7"

-- May look: fleet list, show, watch, metrics, pull.
CREATE ROLE statedir_reader NOLOGIN;
GRANT USAGE ON SCHEMA statedir TO statedir_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA statedir TO statedir_reader;

-- May join, claim and publish as well; removes nothing but files and histories that are published anew.
CREATE ROLE statedir_worker NOLOGIN;
GRANT statedir_reader TO statedir_worker;
GRANT INSERT, UPDATE ON statedir.project_state TO statedir_worker;
GRANT INSERT, UPDATE, DELETE ON statedir.project_file TO statedir_worker;
GRANT INSERT, DELETE ON statedir.project_history TO statedir_worker;
GRANT INSERT ON statedir.project_push TO statedir_worker;
