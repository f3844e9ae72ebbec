package house_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// importRule says what the files of one package may import; its tests are free.
type importRule struct {
	dir    string   // the package, as a directory below the root
	inside []string // what it may import of this module; "." is the root package
	others bool     // whether it may import modules of others
	never  []string // what it may not import for all that
}

var (
	sqlPackages = []string{"database/sql", "github.com/jackc/pgx", "modernc.org/sqlite"}
	webPackages = []string{"net/http"}
	sqlAndWeb   = slices.Concat(sqlPackages, webPackages)
	// What agent's users must not get with it: each has a package of its own.
	edges = []string{
		"github.com/anthropics", "google.golang.org", "go.opentelemetry.io", "github.com/modelcontextprotocol",
	}
)

// importTable is the direction of the house: cmd, app, faces and adapters,
// hub, root. Only tests import internal/shoaltest: it is in no row.
var importTable = []importRule{
	{dir: ".", inside: []string{"internal/idtext", "internal/jsontext", "internal/keep"}, never: sqlAndWeb},
	{dir: "internal/idtext", never: sqlAndWeb},
	{dir: "internal/jsontext", never: sqlAndWeb},
	{dir: "internal/keep", never: sqlAndWeb},
	{dir: "agent", others: true, never: slices.Concat(sqlAndWeb, edges)},
	{dir: "agent/agui", inside: []string{"agent"}, never: sqlPackages},
	{dir: "agent/filestore", inside: []string{"agent"}, never: sqlAndWeb},
	{dir: "agent/mcptool", inside: []string{"agent"}, others: true, never: sqlPackages},
	{dir: "agent/middleware", inside: []string{"agent"}, never: sqlAndWeb},
	{dir: "agent/price", inside: []string{"agent"}, never: sqlAndWeb},
	{dir: "agent/provider/anthropic", inside: []string{"agent", "agent/provider/internal/wire"}, never: sqlPackages},
	{dir: "agent/provider/azure", inside: []string{"agent", "agent/provider/internal/wire", "agent/provider/openai", "agent/provider/token"}, never: sqlPackages},
	{
		dir:    "agent/provider/bedrock",
		inside: []string{"agent", "agent/provider/anthropic", "agent/provider/bedrock/internal/frame", "agent/provider/bedrock/internal/sigv4", "agent/provider/internal/renewed", "agent/provider/internal/wire"}, never: sqlPackages,
	},
	{dir: "agent/provider/bedrock/internal/frame", never: sqlAndWeb},
	{dir: "agent/provider/bedrock/internal/frametest", never: sqlAndWeb},
	{dir: "agent/provider/bedrock/internal/sigv4", never: sqlPackages},
	{dir: "agent/provider/google", inside: []string{"agent", "agent/provider/internal/gcp", "agent/provider/internal/wire"}, never: sqlPackages},
	{dir: "agent/provider/internal/gcp", inside: []string{"agent", "agent/provider/internal/wire"}, never: sqlPackages},
	{dir: "agent/provider/internal/renewed", never: sqlAndWeb},
	{dir: "agent/provider/internal/wire", inside: []string{"agent", "agent/provider/token"}, never: sqlPackages},
	{dir: "agent/provider/internal/wiretest", inside: []string{"agent"}, never: sqlPackages},
	{dir: "agent/provider/openai", inside: []string{"agent", "agent/provider/internal/wire"}, never: sqlPackages},
	{dir: "agent/provider/script", inside: []string{"agent"}, never: sqlAndWeb},
	{dir: "agent/provider/token", inside: []string{"agent/provider/internal/renewed"}, never: sqlPackages},
	{
		dir:    "agent/provider/vertex",
		inside: []string{"agent", "agent/provider/anthropic", "agent/provider/google", "agent/provider/internal/gcp", "agent/provider/internal/wire", "agent/provider/token"}, never: sqlPackages,
	},
	{dir: "agent/ratelimit", inside: []string{"agent"}, never: sqlAndWeb},
	{dir: "agent/sqlstore", inside: []string{"agent"}, never: slices.Concat(webPackages, []string{"github.com/jackc/pgx", "modernc.org/sqlite"})}, // the caller brings the driver
	{dir: "agent/storetest", inside: []string{"agent"}, others: true, never: sqlAndWeb},
	{dir: "agent/telemetry", inside: []string{"agent"}, others: true, never: sqlAndWeb},
	{
		dir: "bench",
		inside: []string{
			".", "bench/cluster", "bench/coders", "bench/driver", "bench/models", "bench/peer", "bench/process", "bench/report", "bench/search",
			"client", "internal/hub/storage", "internal/load", "internal/search", "internal/sqlstore",
		},
		others: true,
	},
	{
		dir:    "bench/cluster",
		inside: []string{".", "bench/driver", "bench/peer", "bench/process", "bench/report", "client", "internal/load"}, others: true,
	},
	{
		dir:    "bench/coders",
		inside: []string{".", "bench/driver", "bench/process", "bench/report", "client", "internal/harness", "internal/harness/acp", "internal/harness/claude", "internal/harness/codex", "internal/harness/opencode", "internal/shoaltest/program"}, never: sqlPackages,
	},
	{dir: "bench/compare", inside: []string{"bench/compare/harness", "bench/compare/mock"}, never: sqlPackages}, // of a module of its own, as what is below it
	{dir: "bench/compare/agents/adk", inside: []string{"bench/compare/harness"}, others: true, never: sqlAndWeb},
	{dir: "bench/compare/agents/eino", inside: []string{"bench/compare/harness"}, others: true, never: sqlAndWeb},
	{dir: "bench/compare/agents/genkit", inside: []string{"bench/compare/harness"}, others: true, never: sqlAndWeb},
	{dir: "bench/compare/agents/openaigo", inside: []string{"bench/compare/harness"}, others: true, never: sqlAndWeb},
	{dir: "bench/compare/agents/shoal", inside: []string{"agent", "agent/provider/openai", "bench/compare/harness"}, never: sqlAndWeb},
	{dir: "bench/compare/harness", never: sqlAndWeb},
	{dir: "bench/compare/mock", never: sqlPackages},
	{dir: "bench/driver", inside: []string{"bench/process", "bench/report", "client"}, never: sqlPackages},
	{
		dir:    "bench/models",
		inside: []string{"agent", "agent/provider/openai", "bench/driver", "bench/process", "bench/report", "internal/compose", "internal/load"}, never: sqlPackages,
	},
	{dir: "bench/peer", inside: []string{"bench/driver", "bench/process", "internal/load"}, others: true},
	{dir: "bench/process", never: sqlPackages},
	{dir: "bench/report", inside: []string{"internal/load"}, never: sqlPackages},
	{
		dir:    "bench/search",
		inside: []string{".", "bench/driver", "bench/process", "bench/report", "internal/hub/storage", "internal/load", "internal/search", "internal/sqlstore"}, others: true,
	},
	{dir: "bench/peers/openai", others: true, never: sqlPackages}, // of a module of its own
	{dir: "bench/peers/openaigo", others: true, never: sqlPackages},
	{dir: "build/release", others: true, never: sqlAndWeb}, // of a module of its own
	{dir: "client", inside: []string{".", "internal/audit"}, never: sqlPackages},
	{dir: "client/agentserve", inside: []string{".", "agent", "client"}, never: sqlPackages},
	{
		dir: "cmd/shoal",
		inside: []string{
			"internal/background", "internal/cli", "internal/cli/account", "internal/cli/admin", "internal/cli/agents", "internal/cli/completion", "internal/cli/connect", "internal/cli/runner", "internal/cli/runs", "internal/cli/server",
			"internal/cli/talk", "internal/wakehook",
		},
		never: sqlAndWeb,
	},
	{dir: "docs", never: sqlAndWeb},
	{dir: "examples/answer", inside: []string{".", "client"}},
	{dir: "examples/approval", inside: []string{"agent", "agent/provider/script"}},
	{dir: "examples/handoff", inside: []string{"agent", "agent/provider/script"}},
	{
		dir:    "examples/mcptools",
		inside: []string{"agent", "agent/mcptool", "agent/provider/openai", "agent/provider/script"},
	},
	{dir: "examples/remote", inside: []string{".", "agent", "agent/provider/script", "client", "client/agentserve"}},
	{dir: "examples/resume", inside: []string{"agent", "agent/filestore", "agent/provider/script"}},
	{dir: "examples/sqlstore", inside: []string{"agent", "agent/provider/script", "agent/sqlstore"}, others: true, never: webPackages},
	{dir: "examples/summary", inside: []string{"agent", "agent/provider/script"}},
	{dir: "examples/toolagent", inside: []string{"agent", "agent/provider/openai", "agent/provider/script"}},
	{dir: "examples/mcpagent", inside: []string{"."}, others: true, never: sqlPackages},
	{dir: "examples/watch", inside: []string{".", "client"}},
	{
		dir: "internal/app",
		inside: []string{
			".", "internal/agentconfig", "internal/aguiapi", "internal/aisdkapi", "internal/auditlog", "internal/auth", "internal/background", "internal/calendar", "internal/certificate", "internal/chatapi", "internal/clusterbus", "internal/clusterbus/natscore", "internal/clusterbus/pgnotify", "internal/console", "internal/docsite", "internal/guard",
			"internal/httpapi", "internal/httpapi/bodies", "internal/history", "internal/hub", "internal/hub/core", "internal/hub/storage", "internal/keep", "internal/limit", "internal/localbus", "internal/logs", "internal/mcpapi", "internal/metrics", "internal/modelenv", "internal/naming", "internal/oauth", "internal/oidc", "internal/openaiapi", "internal/otlp", "internal/detach", "internal/remoterun", "internal/run",
			"internal/sqlstore", "internal/tool", "internal/tracecontext", "internal/webpush", "agent",
		},
		others: true, never: sqlPackages,
	},
	{dir: "internal/apptest", inside: []string{".", "client", "internal/agentconfig", "internal/app", "internal/auth", "internal/hub/feed", "internal/hub/storage"}},
	{dir: "internal/aguiapi", inside: []string{".", "agent", "agent/agui", "internal/agenterror", "internal/aguiapi/shorten", "internal/chatapi", "internal/eventstream", "internal/exchange", "internal/guard", "internal/hub/core", "internal/hub/storage", "internal/limit"}, never: sqlPackages},
	{dir: "internal/aguiapi/shorten", inside: []string{"."}, never: sqlAndWeb},
	{dir: "internal/aisdkapi", inside: []string{".", "internal/chatapi", "internal/eventstream", "internal/exchange", "internal/guard", "internal/hub/core", "internal/hub/runs", "internal/hub/storage", "internal/limit"}, never: sqlPackages},
	{dir: "internal/chatapi", inside: []string{".", "internal/auth", "internal/exchange", "internal/guard", "internal/hub", "internal/hub/core", "internal/limit"}, never: sqlPackages},
	{dir: "internal/eventstream", never: sqlPackages},
	{dir: "internal/tracecontext", never: sqlPackages},
	{dir: "internal/openaiapi", inside: []string{".", "internal/chatapi", "internal/eventstream", "internal/exchange", "internal/guard", "internal/hub/core", "internal/hub/feed", "internal/hub/storage", "internal/limit"}, never: sqlPackages},
	{dir: "internal/otlp", inside: []string{".", "agent", "agent/telemetry", "internal/metrics"}, others: true, never: sqlPackages},
	{dir: "internal/exchange", inside: []string{".", "agent", "internal/agenterror", "internal/hub", "internal/hub/feed", "internal/hub/runs", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/auth", inside: []string{".", "internal/audit", "internal/guard", "internal/hub", "internal/hub/access", "internal/limit", "internal/metrics", "internal/scopes"}, others: true, never: sqlPackages},
	{dir: "internal/auditlog", inside: []string{".", "internal/audit"}, never: sqlAndWeb},
	{dir: "internal/agentconfig", inside: []string{".", "agent", "internal/modelenv", "internal/yamltext"}, others: true, never: sqlAndWeb},
	{dir: "internal/agenterror", inside: []string{".", "agent"}, never: sqlAndWeb},
	{dir: "internal/audit", inside: []string{"."}, never: sqlAndWeb},
	{dir: "internal/approval", inside: []string{".", "internal/roles"}, never: sqlAndWeb},
	{dir: "internal/scopes", inside: []string{".", "internal/roles"}, never: sqlAndWeb},
	{dir: "internal/roles", inside: []string{"."}, never: sqlAndWeb},
	{dir: "internal/background", inside: []string{"internal/filelock", "internal/wholefile"}, others: true, never: sqlAndWeb},
	{dir: "internal/certificate", inside: []string{"."}, others: true, never: sqlPackages},
	{dir: "internal/behalf", inside: []string{"."}, never: sqlAndWeb},
	{dir: "internal/budget", inside: []string{".", "agent", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/calendar", inside: []string{"."}, others: true, never: sqlAndWeb},
	{dir: "internal/chat", inside: []string{"."}, never: sqlAndWeb},
	{dir: "internal/chat/chattest", inside: []string{"."}, never: sqlAndWeb},
	{dir: "internal/chat/feed", inside: []string{".", "client", "internal/chat"}, never: sqlAndWeb},
	{
		dir:    "internal/chat/screen",
		inside: []string{".", "client", "internal/chat", "internal/chat/feed", "internal/safetext"}, others: true, never: sqlAndWeb,
	},
	{dir: "internal/cli", inside: []string{".", "client", "internal/app", "internal/background", "internal/certificate", "internal/configfile", "internal/doctor", "internal/login", "internal/safetext", "internal/wholefile"}, others: true, never: sqlAndWeb},
	{dir: "internal/cli/account", inside: []string{".", "internal/cli", "internal/login"}, never: sqlAndWeb},
	{dir: "internal/cli/admin", inside: []string{".", "client", "internal/app", "internal/cli", "internal/keep", "internal/safetext"}, never: sqlAndWeb},
	{
		dir:    "internal/cli/agents",
		inside: []string{".", "client", "internal/cli", "internal/cli/runs", "internal/cli/view", "internal/safetext", "internal/yamltext"}, others: true, never: sqlAndWeb,
	},
	{dir: "internal/cli/completion", inside: []string{".", "client", "internal/cli", "internal/safetext"}, others: true, never: sqlAndWeb},
	{dir: "internal/cli/connect", inside: []string{".", "client", "internal/cli", "internal/connect", "internal/mcpbridge"}, never: sqlAndWeb},
	{dir: "internal/cli/runner", inside: []string{".", "client", "internal/app", "internal/cli", "internal/harness", "internal/runner", "internal/wholefile"}, others: true, never: sqlAndWeb},
	{dir: "internal/cli/runs", inside: []string{".", "client", "internal/chat", "internal/cli", "internal/cli/view", "internal/safetext"}, never: sqlAndWeb},
	{
		dir: "internal/cli/server",
		inside: []string{
			".", "client", "internal/app", "internal/background", "internal/certificate", "internal/cli", "internal/connect", "internal/doctor", "internal/load", "internal/logs", "internal/modelenv", "internal/release", "internal/safetext", "internal/thirdparty",
		},
		others: true, never: sqlPackages,
	},
	{
		dir: "internal/cli/talk",
		inside: []string{
			".", "client", "internal/app", "internal/chat", "internal/chat/feed", "internal/chat/screen", "internal/cli", "internal/cli/runs", "internal/cli/view", "internal/safetext",
		},
		never: sqlAndWeb,
	},
	{dir: "internal/cli/view", inside: []string{".", "internal/chat", "internal/cli", "internal/safetext"}, never: sqlAndWeb},
	{dir: "internal/clusterbus", inside: []string{".", "internal/hub/core", "internal/localbus", "internal/metrics"}, never: sqlAndWeb},
	{dir: "internal/clusterbus/natscore", inside: []string{".", "internal/clusterbus"}, others: true, never: sqlAndWeb},
	{dir: "internal/clusterbus/pgnotify", inside: []string{".", "internal/clusterbus"}, others: true, never: webPackages},
	{dir: "internal/compose", inside: []string{".", "agent"}, never: sqlAndWeb},
	{dir: "internal/configfile", inside: []string{".", "internal/yamltext"}, others: true, never: sqlAndWeb},
	{dir: "internal/connect", inside: []string{"."}, others: true, never: sqlAndWeb},
	{dir: "internal/filelock", others: true, never: sqlAndWeb},
	{dir: "internal/oauth", inside: []string{".", "internal/auth", "internal/guard", "internal/hub/access", "internal/hub/storage", "internal/limit", "internal/naming", "internal/roles", "internal/scopes"}, never: sqlPackages},
	{dir: "internal/oidc", inside: []string{".", "internal/guard", "internal/hub/access", "internal/scopes"}, others: true, never: sqlPackages},
	{dir: "internal/console", inside: []string{".", "internal/auth", "internal/guard", "internal/scopes"}, never: sqlPackages},
	{dir: "internal/tool", inside: []string{".", "agent", "internal/agentconfig", "internal/agenterror"}, others: true, never: sqlPackages},
	{dir: "internal/doctor", inside: []string{".", "client", "internal/app", "internal/connect", "internal/modelenv", "internal/sqlstore"}, never: sqlPackages},
	{dir: "internal/docsite", inside: []string{"docs"}, never: sqlPackages},
	{dir: "internal/guard", inside: []string{".", "internal/limit", "internal/metrics"}, others: true, never: sqlPackages},
	{dir: "internal/history", inside: []string{".", "agent", "internal/hub/storage", "internal/modelrequest", "internal/spacetool"}, never: sqlAndWeb},
	{
		dir:    "internal/httpapi",
		inside: []string{".", "internal/agentconfig", "internal/audit", "internal/auth", "internal/guard", "internal/httpapi/callmetrics", "internal/httpapi/bodies", "internal/httpapi/fields", "internal/httpapi/input", "internal/httpapi/openapi", "internal/httpapi/query", "internal/httpapi/skew", "internal/httpapi/sandbox", "internal/httpapi/spool", "internal/httpapi/upload", "internal/hub", "internal/hub/archive", "internal/hub/core", "internal/hub/feed", "internal/hub/inbox", "internal/hub/pending", "internal/hub/push", "internal/hub/spaces", "internal/hub/storage", "internal/limit", "internal/metrics", "internal/detach", "internal/remoterun", "internal/scopes"}, others: true, never: sqlPackages,
	},
	{dir: "internal/httpapi/callmetrics", inside: []string{"internal/metrics"}, never: sqlPackages},
	{dir: "internal/httpapi/bodies", inside: []string{"internal/httpapi/upload", "internal/hub/storage"}, never: sqlPackages},
	{dir: "internal/httpapi/fields", inside: []string{"."}, never: sqlPackages},
	{dir: "internal/httpapi/input", inside: []string{".", "internal/httpapi/skew", "internal/keep"}, never: sqlPackages},
	{dir: "internal/httpapi/openapi", never: sqlAndWeb},
	{dir: "internal/httpapi/query", inside: []string{".", "internal/audit", "internal/hub/storage"}, never: sqlPackages},
	{dir: "internal/httpapi/skew", inside: []string{"."}, never: sqlPackages},
	{dir: "internal/httpapi/sandbox", never: sqlPackages},
	{dir: "internal/httpapi/spool", inside: []string{"."}, never: sqlPackages},
	{dir: "internal/httpapi/upload", inside: []string{"."}, never: sqlPackages},
	{dir: "internal/harness", never: sqlAndWeb},
	{dir: "internal/harness/acp", inside: []string{"internal/harness", "internal/harness/jsonrpc", "internal/harness/process"}, never: sqlAndWeb},
	{dir: "internal/harness/claude", inside: []string{"internal/harness", "internal/harness/process"}, never: sqlAndWeb},
	{dir: "internal/harness/codex", inside: []string{"internal/harness", "internal/harness/jsonrpc", "internal/harness/process"}, never: sqlAndWeb},
	{dir: "internal/harness/harnesstest", inside: []string{"internal/harness"}, others: true, never: sqlAndWeb},
	{dir: "internal/harness/jsonrpc", inside: []string{"internal/harness"}, never: sqlAndWeb},
	{dir: "internal/harness/opencode", inside: []string{"internal/harness", "internal/harness/acp"}, never: sqlAndWeb},
	{dir: "internal/harness/process", inside: []string{"internal/harness"}, others: true, never: sqlAndWeb},
	{dir: "internal/hub", inside: []string{".", "internal/hub/audits", "internal/hub/access", "internal/hub/agents", "internal/hub/archive", "internal/hub/core", "internal/hub/erasure", "internal/hub/feed", "internal/hub/inbox", "internal/hub/nodes", "internal/hub/live", "internal/hub/pending", "internal/hub/push", "internal/hub/retention", "internal/hub/runs", "internal/hub/spaces", "internal/hub/storage", "internal/metrics"}, never: sqlAndWeb},
	{dir: "internal/hub/storage", inside: []string{".", "internal/audit", "internal/behalf", "internal/keep", "internal/search"}, never: sqlAndWeb},
	{dir: "internal/hub/core", inside: []string{".", "internal/audit", "internal/hub/storage", "internal/metrics", "internal/naming", "internal/roles", "internal/scopes", "internal/tracecontext"}, never: sqlAndWeb},
	{dir: "internal/hub/pending", inside: []string{".", "internal/approval", "internal/audit", "internal/behalf", "internal/hub/core", "internal/hub/storage", "internal/roles", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/hub/nodes", inside: []string{".", "internal/hub/core", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/hub/copies", inside: []string{".", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/hub/erasure", inside: []string{".", "internal/audit", "internal/hub/access", "internal/hub/copies", "internal/hub/core", "internal/hub/runs", "internal/hub/spaces", "internal/hub/storage", "internal/hub/sweep", "internal/roles"}, never: sqlAndWeb},
	{dir: "internal/hub/retention", inside: []string{".", "internal/hub/copies", "internal/hub/core", "internal/hub/modeltexts", "internal/hub/runs", "internal/hub/storage", "internal/hub/sweep"}, never: sqlAndWeb},
	{dir: "internal/hub/sweep", inside: []string{".", "internal/hub/copies", "internal/hub/core", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/hub/push", inside: []string{".", "internal/audit", "internal/hub/core", "internal/hub/pending", "internal/hub/storage", "internal/roles"}, never: sqlAndWeb},
	{dir: "internal/hub/notices", inside: []string{".", "internal/hub/core", "internal/hub/pending", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/hub/runs", inside: []string{".", "internal/approval", "internal/behalf", "internal/hub/core", "internal/hub/leases", "internal/hub/live", "internal/hub/notices", "internal/hub/pending", "internal/hub/storage", "internal/limit", "internal/naming", "internal/roles", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/hub/live", inside: []string{".", "internal/hub/core", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/hub/leases", inside: []string{".", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/hub/modeltexts", inside: []string{".", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/hub/agents", inside: []string{".", "internal/audit", "internal/hub/core", "internal/hub/runs", "internal/hub/storage", "internal/roles"}, never: sqlAndWeb},
	{dir: "internal/hub/inbox", inside: []string{".", "internal/approval", "internal/hub/core", "internal/hub/runs", "internal/hub/storage", "internal/limit", "internal/metrics", "internal/roles", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/hub/spaces", inside: []string{".", "internal/audit", "internal/hub/agents", "internal/hub/copies", "internal/hub/core", "internal/hub/inbox", "internal/hub/pending", "internal/hub/runs", "internal/hub/storage", "internal/naming", "internal/roles", "internal/search", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/hub/access", inside: []string{".", "internal/audit", "internal/hub/agents", "internal/hub/core", "internal/hub/pending", "internal/hub/spaces", "internal/hub/storage", "internal/naming", "internal/roles", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/hub/feed", inside: []string{".", "internal/hub/core", "internal/hub/live", "internal/hub/pending", "internal/hub/runs", "internal/hub/storage", "internal/roles", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/hub/archive", inside: []string{".", "internal/audit", "internal/hub/core", "internal/hub/runs", "internal/hub/storage", "internal/roles"}, never: sqlAndWeb},
	{dir: "internal/hub/audits", inside: []string{".", "internal/audit", "internal/hub/core", "internal/hub/storage", "internal/roles"}, never: sqlAndWeb},
	{dir: "internal/thirdparty", never: sqlAndWeb},
	{dir: "internal/timing", inside: []string{".", "agent"}, never: sqlAndWeb},
	{dir: "internal/limit", inside: []string{".", "internal/metrics"}, never: sqlAndWeb},
	{dir: "internal/load", inside: []string{".", "client"}, never: sqlPackages},
	{dir: "internal/localbus", inside: []string{".", "internal/hub/core"}, others: true, never: sqlAndWeb},
	{dir: "internal/login", inside: []string{".", "client", "internal/filelock", "internal/wholefile"}, others: true, never: sqlPackages},
	{dir: "internal/logs", never: sqlAndWeb},
	{dir: "internal/mcpapi", inside: []string{".", "internal/auth", "internal/detach", "internal/guard", "internal/hub", "internal/hub/core", "internal/hub/feed", "internal/hub/inbox", "internal/limit", "internal/mcpapi/rawjson", "internal/mcpapi/skill", "internal/mcpapi/tasks", "internal/mcpapi/tools", "internal/metrics", "internal/remoterun", "internal/scopes", "internal/tracecontext"}, others: true, never: sqlPackages},
	{dir: "internal/mcpapi/rawjson", never: sqlAndWeb},
	{dir: "internal/mcpapi/skill", others: true, never: sqlPackages},
	{dir: "internal/mcpapi/tasks", inside: []string{".", "internal/mcpapi/tools"}, never: sqlAndWeb},
	{dir: "internal/mcpapi/tools", inside: []string{".", "internal/hub", "internal/hub/inbox", "internal/hub/spaces", "internal/hub/storage", "internal/mcpapi/rawjson", "internal/naming", "internal/remoterun", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/metrics", never: sqlAndWeb},
	{dir: "internal/modelrequest", inside: []string{".", "agent", "internal/hub/runs", "internal/hub/storage"}, never: sqlAndWeb},
	{dir: "internal/modelenv", never: sqlAndWeb},
	{dir: "internal/naming", inside: []string{"."}, others: true, never: sqlAndWeb},
	{dir: "internal/detach", never: sqlPackages},
	{dir: "internal/picture", inside: []string{".", "agent", "internal/spacetool"}, never: sqlPackages},
	{dir: "internal/mcpbridge", inside: []string{"."}, never: sqlPackages},
	{dir: "internal/release", inside: []string{"."}, others: true, never: sqlPackages},
	{dir: "internal/perform", inside: []string{".", "internal/behalf", "internal/compose", "internal/hub/live", "internal/hub/pending", "internal/hub/runs", "internal/hub/storage"}, never: sqlAndWeb},
	{
		dir: "internal/remoterun",
		inside: []string{
			".", "agent", "internal/agentconfig", "internal/approval", "internal/behalf", "internal/budget", "internal/compose", "internal/history", "internal/hub", "internal/hub/core", "internal/hub/live",
			"internal/hub/runs", "internal/hub/storage", "internal/perform", "internal/spacetool",
		},
		never: sqlAndWeb,
	},
	{
		dir: "internal/run",
		inside: []string{
			".", "agent", "internal/agentconfig", "internal/agenterror", "internal/behalf", "internal/budget", "internal/compose", "internal/history",
			"internal/hub", "internal/hub/core", "internal/hub/live", "internal/hub/pending", "internal/hub/runs", "internal/hub/storage", "internal/limit", "internal/metrics", "internal/modelrequest", "internal/perform", "internal/picture", "internal/spacetool", "internal/timing", "internal/tool", "internal/toolserver", "internal/vendor",
		},
		never: sqlAndWeb,
	},
	{
		dir:    "internal/spacetool",
		inside: []string{".", "agent", "internal/agentconfig", "internal/behalf", "internal/calendar", "internal/hub", "internal/hub/pending", "internal/hub/runs", "internal/hub/storage", "internal/naming", "internal/search"}, never: sqlAndWeb,
	},
	{
		dir: "internal/shoaltest",
		inside: []string{
			".", "client", "internal/app", "internal/agentconfig", "internal/auth", "internal/calendar", "internal/hub", "internal/hub/core", "internal/hub/feed", "internal/hub/inbox", "internal/hub/pending", "internal/hub/runs", "internal/hub/spaces", "internal/hub/storage", "internal/keep", "internal/localbus", "internal/sqlstore",
			"internal/search", "internal/shoaltest/program", "internal/shoaltest/storetest", "internal/storytest",
		},
		others: true,
	},
	{dir: "internal/shoaltest/bustest", inside: []string{"internal/hub/core"}, never: sqlAndWeb},
	{dir: "internal/shoaltest/clienttest", inside: []string{".", "client", "internal/app", "internal/apptest", "internal/shoaltest/faultproxy", "internal/shoaltest/program"}},
	{dir: "internal/shoaltest/clustertest", inside: []string{".", "internal/clusterbus", "internal/hub/core", "internal/shoaltest/bustest"}, never: sqlAndWeb},
	{dir: "internal/shoaltest/coder", never: sqlAndWeb},
	{dir: "internal/shoaltest/crowd", inside: []string{".", "client", "internal/shoaltest/ledger"}, others: true, never: sqlPackages},
	{dir: "internal/shoaltest/faultproxy", never: sqlAndWeb},
	{dir: "internal/shoaltest/ledger", never: sqlPackages},
	{dir: "internal/shoaltest/natstest", inside: []string{"internal/shoaltest/program"}, never: sqlPackages},
	{dir: "internal/shoaltest/postgrestest", others: true},
	{dir: "internal/shoaltest/promptcache", never: sqlPackages},
	{dir: "internal/shoaltest/program", never: sqlPackages},
	{dir: "internal/shoaltest/setting", never: sqlAndWeb},
	{dir: "internal/shoaltest/shop", inside: []string{".", "internal/auth", "internal/guard", "internal/hub", "internal/hub/runs", "internal/hub/storage", "internal/localbus", "internal/shoaltest", "internal/sqlstore"}, never: sqlPackages},
	{dir: "internal/shoaltest/pebbletest", inside: []string{"internal/shoaltest/program", "internal/shoaltest/tlstest"}, others: true, never: sqlPackages},
	{dir: "internal/shoaltest/tlstest", never: sqlPackages},
	{dir: "internal/shoaltest/oauthtest", never: sqlPackages},
	{
		dir:    "internal/shoaltest/storetest",
		inside: []string{".", "internal/hub/storage", "internal/shoaltest/storetest/coretest", "internal/shoaltest/storetest/inboxtest", "internal/shoaltest/storetest/runstest", "internal/shoaltest/storetest/storecase"}, never: sqlAndWeb,
	},
	{dir: "internal/shoaltest/storetest/coretest", inside: []string{".", "internal/hub/storage", "internal/search", "internal/shoaltest/storetest/storecase"}, never: sqlAndWeb},
	{dir: "internal/shoaltest/storetest/inboxtest", inside: []string{".", "internal/hub/storage", "internal/shoaltest/storetest/storecase"}, never: sqlAndWeb},
	{dir: "internal/shoaltest/storetest/runstest", inside: []string{".", "internal/hub/storage", "internal/shoaltest/storetest/storecase"}, never: sqlAndWeb},
	{dir: "internal/shoaltest/storetest/storecase", inside: []string{".", "internal/hub/storage", "internal/search"}, others: true, never: sqlAndWeb},
	{
		dir:    "internal/runner",
		inside: []string{".", "client", "internal/approval", "internal/harness", "internal/harness/acp", "internal/harness/claude", "internal/harness/codex", "internal/harness/opencode", "internal/harness/process", "internal/safetext", "internal/wholefile"}, others: true, never: sqlAndWeb,
	},
	{dir: "internal/safetext", never: sqlAndWeb},
	{dir: "internal/search", inside: []string{"."}, others: true, never: sqlAndWeb},
	{dir: "internal/storytest", never: sqlAndWeb},
	{dir: "internal/toolserver", inside: []string{".", "agent", "agent/mcptool", "internal/agentconfig", "internal/agenterror", "internal/tool"}, never: sqlPackages},
	{
		dir: "internal/vendor",
		inside: []string{
			".", "agent", "agent/price", "agent/provider/anthropic", "agent/provider/azure", "agent/provider/bedrock", "agent/provider/google", "agent/provider/openai", "agent/provider/script", "agent/provider/token", "agent/provider/vertex",
			"internal/agentconfig", "internal/agenterror", "internal/modelenv",
		},
		never: sqlPackages,
	},
	{dir: "internal/wakehook", inside: []string{".", "client", "internal/approval", "internal/connect", "internal/filelock", "internal/safetext", "internal/wholefile"}, others: true, never: sqlAndWeb},
	{dir: "internal/webpush", inside: []string{".", "internal/hub", "internal/hub/push", "internal/hub/storage"}, never: sqlPackages},
	{dir: "internal/wholefile", never: sqlAndWeb},
	{dir: "internal/yamltext", others: true, never: sqlAndWeb},
	{dir: "internal/sqlite", others: true, never: slices.Concat(webPackages, []string{"database/sql", "github.com/jackc/pgx"})},
	{
		dir: "internal/sqlstore",
		inside: []string{
			".", "internal/hub/storage", "internal/limit", "internal/metrics", "internal/safetext", "internal/sqlite", "internal/sqlstore/archivesql", "internal/sqlstore/auditsql", "internal/sqlstore/clustersql", "internal/sqlstore/coresql", "internal/sqlstore/erasesql", "internal/sqlstore/keysql", "internal/sqlstore/pushsql", "internal/sqlstore/renderersql", "internal/sqlstore/rowcache", "internal/sqlstore/runsql",
			"internal/sqlstore/searchsql", "internal/sqlstore/sqlconn",
		},
		never: sqlAndWeb,
	},
	{
		dir: "internal/sqlstore/archivesql",
		inside: []string{
			".", "internal/hub/storage", "internal/sqlstore/coresql", "internal/sqlstore/messagerow", "internal/sqlstore/runsql", "internal/sqlstore/schema", "internal/sqlstore/searchsql", "internal/sqlstore/sqlconn",
		},
		never: sqlAndWeb,
	},
	{
		dir:    "internal/sqlstore/coresql",
		inside: []string{".", "internal/hub/core", "internal/hub/storage", "internal/sqlstore/messagerow", "internal/sqlstore/readranges", "internal/sqlstore/rowcache", "internal/sqlstore/schema", "internal/sqlstore/searchsql", "internal/sqlstore/sqlconn"}, never: sqlAndWeb,
	},
	{dir: "internal/sqlstore/clustersql", inside: []string{".", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/auditsql", inside: []string{".", "internal/audit", "internal/hub/storage", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/erasesql", inside: []string{".", "internal/hub/storage", "internal/sqlstore/coresql", "internal/sqlstore/messagerow", "internal/sqlstore/runsql", "internal/sqlstore/searchsql", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/pushsql", inside: []string{".", "internal/hub/storage", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/renderersql", inside: []string{".", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/keysql", inside: []string{".", "internal/hub/storage", "internal/sqlstore/sqlconn", "internal/scopes"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/messagerow", inside: []string{".", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/readranges", inside: []string{".", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/rowcache", inside: []string{".", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/runsql", inside: []string{".", "internal/hub/storage", "internal/sqlstore/coresql", "internal/sqlstore/schema", "internal/sqlstore/sqlconn"}, never: sqlAndWeb},
	{dir: "internal/sqlstore/schema", never: sqlAndWeb},
	{
		dir:    "internal/sqlstore/searchsql",
		inside: []string{".", "internal/hub/storage", "internal/search", "internal/sqlstore/messagerow", "internal/sqlstore/schema", "internal/sqlstore/sqlconn"}, never: sqlAndWeb,
	},
	{dir: "internal/sqlstore/sqlconn", inside: []string{".", "internal/filelock", "internal/hub/storage", "internal/sqlite"}, others: true, never: slices.Concat(webPackages, []string{"modernc.org/sqlite"})},
	{dir: "test/otlp/receiver", others: true, never: sqlPackages},
}

const howToAddAPackage = "a new package needs a row in importTable (test/house/imports_test.go) that says what it may import"

// Imports point one way, or the house becomes one room.
func TestImportTable(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.isTest() {
			continue
		}
		at := slices.IndexFunc(importTable, func(r importRule) bool { return r.dir == f.dir() })
		if at < 0 {
			t.Errorf("%s: package %s is not in the import table: %s", f.path, f.dir(), howToAddAPackage)
			continue
		}
		for _, spec := range f.ast.Imports {
			if reason := importTable[at].refuses(unquote(spec.Path)); reason != "" {
				t.Errorf("%s: %s may not import %s: %s", f.position(spec), f.dir(), spec.Path.Value, reason)
			}
		}
	}
}

// refuses answers why the rule does not allow the import; empty if it does.
func (r importRule) refuses(imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	switch dir, inside := moduleDir(imported); {
	case imported == "C":
		return "the binary is built without cgo"
	case inside && !slices.Contains(r.inside, dir):
		return fmt.Sprintf("of this module it may import %q (importTable in test/house/imports_test.go)", r.inside)
	case slices.ContainsFunc(r.never, func(p string) bool { return within(imported, p) }):
		return fmt.Sprintf("it knows nothing of %q (importTable in test/house/imports_test.go)", r.never)
	case !inside && !r.others && strings.Contains(first, "."):
		return "it uses the standard library only"
	}
	return ""
}

// moduleDir returns the directory of a package of this module.
func moduleDir(imported string) (dir string, inside bool) {
	if imported == modulePath {
		return ".", true
	}
	return strings.CutPrefix(imported, modulePath+"/")
}

func within(imported, tree string) bool {
	return imported == tree || strings.HasPrefix(imported, tree+"/")
}

func TestImportRule(t *testing.T) {
	hub := importRule{dir: "internal/hub", inside: []string{"."}, never: sqlAndWeb}
	face := importRule{dir: "internal/httpapi", inside: []string{".", "internal/hub"}, others: true, never: sqlPackages}
	for _, c := range []struct {
		rule     importRule
		imported string
		refused  bool
	}{
		{hub, "context", false},
		{hub, modulePath, false},
		{hub, modulePath + "/internal/sqlstore", true},
		{hub, "net/http", true},
		{hub, "net/http/httptest", true},
		{hub, "github.com/google/uuid", true},
		{hub, "C", true},
		{face, "net/http", false},
		{face, "github.com/google/jsonschema-go/jsonschema", false},
		{face, modulePath + "/internal/hub", false},
		{face, modulePath + "/internal/hub/deeper", true},
		{face, modulePath + "/internal/mcpapi", true},
		{face, "github.com/jackc/pgx/v5/stdlib", true},
	} {
		if got := c.rule.refuses(c.imported); (got != "") != c.refused {
			t.Errorf("%s importing %s: refused = %q, want refused %v", c.rule.dir, c.imported, got, c.refused)
		}
	}
}

// The seams that tests need stay out of what users run.
func TestBinaryLinksNoTestCode(t *testing.T) {
	for _, pkg := range goList(t, "CGO_ENABLED=0", "-deps", modulePath+"/cmd/...") {
		if pkg == modulePath+"/"+shoaltest || pkg == "testing" {
			t.Errorf("the binary links %s; `go list -deps -f '{{.ImportPath}}: {{.Imports}}' ./cmd/...` shows through whom", pkg)
		}
	}
}

// One file runs on every Linux machine: nothing in it wants a C compiler. With
// cgo switched off the go command only hides such files, so it is left on here.
func TestBinaryNeedsNoCgo(t *testing.T) {
	const format = "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}"
	for _, pkg := range goList(t, "CGO_ENABLED=1", "-deps", "-f", format, modulePath+"/cmd/...") {
		t.Errorf("the binary links %s, which is written with cgo", pkg)
	}
	goList(t, "CGO_ENABLED=0", "-deps", modulePath+"/cmd/...") // fails where a package has no file left
}

// SQLite's translation from C works only with exactly the libc that it was made with.
func TestSQLiteGetsTheLibcThatItWants(t *testing.T) {
	const libc = "modernc.org/libc"
	if !strings.Contains(string(readFile(t, "go.mod")), libc+" ") {
		t.Fatalf("go.mod does not name %s; run `go mod tidy`", libc)
	}
	chosen := goList(t, "GOWORK=off", "-m", "-f", "{{.Version}}", libc)[0]
	sqliteMod := goList(t, "GOWORK=off", "-m", "-f", "{{.GoMod}}", "modernc.org/sqlite")[0]
	wanted := ""
	for line := range strings.Lines(string(readFile(t, sqliteMod))) {
		if words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require ")); len(words) > 1 && words[0] == libc {
			wanted = words[1]
		}
	}
	if chosen != wanted {
		t.Errorf("%s is %s, but modernc.org/sqlite was made with %q; run `go get %s@%s && go mod tidy`", libc, chosen, wanted, libc, wanted)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	enterRoot()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
