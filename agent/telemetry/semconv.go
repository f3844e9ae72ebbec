package telemetry

import "go.opentelemetry.io/otel/attribute"

// The names of OpenTelemetry's semantic conventions for generative AI, release
// 1.41 and the repository semantic-conventions-genai that they have moved to.
// They are in development there; the released Go packages no longer have them.
// Each group names the section that defines it.
const (
	// General attributes: "error", "server", "http".
	errorType      = attribute.Key("error.type")
	serverAddress  = attribute.Key("server.address")
	serverPort     = attribute.Key("server.port")
	httpStatusCode = attribute.Key("http.response.status_code")

	// "Inference", "Invoke agent span" and "Execute tool span".
	operationName  = attribute.Key("gen_ai.operation.name")
	providerName   = attribute.Key("gen_ai.provider.name")
	conversationID = attribute.Key("gen_ai.conversation.id")

	// "Invoke agent span".
	agentName        = attribute.Key("gen_ai.agent.name")
	agentDescription = attribute.Key("gen_ai.agent.description")

	// "Inference": what was asked for.
	requestModel            = attribute.Key("gen_ai.request.model")
	requestStream           = attribute.Key("gen_ai.request.stream")
	requestTemperature      = attribute.Key("gen_ai.request.temperature")
	requestTopP             = attribute.Key("gen_ai.request.top_p")
	requestFrequencyPenalty = attribute.Key("gen_ai.request.frequency_penalty")
	requestPresencePenalty  = attribute.Key("gen_ai.request.presence_penalty")
	requestSeed             = attribute.Key("gen_ai.request.seed")
	requestMaxTokens        = attribute.Key("gen_ai.request.max_tokens")
	requestStopSequences    = attribute.Key("gen_ai.request.stop_sequences")
	outputType              = attribute.Key("gen_ai.output.type")

	// "Inference": what came.
	responseModel            = attribute.Key("gen_ai.response.model")
	responseFinishReasons    = attribute.Key("gen_ai.response.finish_reasons")
	responseTimeToFirstChunk = attribute.Key("gen_ai.response.time_to_first_chunk")
	usageInputTokens         = attribute.Key("gen_ai.usage.input_tokens")
	usageOutputTokens        = attribute.Key("gen_ai.usage.output_tokens")
	usageCacheReadTokens     = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	usageCacheCreationTokens = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	usageReasoningTokens     = attribute.Key("gen_ai.usage.reasoning.output_tokens")

	// "Execute tool span".
	toolName   = attribute.Key("gen_ai.tool.name")
	toolCallID = attribute.Key("gen_ai.tool.call.id")
	toolType   = attribute.Key("gen_ai.tool.type")

	// "Capturing instructions, inputs, and outputs": only with Options.Content.
	systemInstructions = attribute.Key("gen_ai.system_instructions")
	inputMessages      = attribute.Key("gen_ai.input.messages")
	outputMessages     = attribute.Key("gen_ai.output.messages")
	toolDefinitions    = attribute.Key("gen_ai.tool.definitions")
	toolDescription    = attribute.Key("gen_ai.tool.description")
	toolCallArguments  = attribute.Key("gen_ai.tool.call.arguments")
	toolCallResult     = attribute.Key("gen_ai.tool.call.result")

	// "Metric: gen_ai.client.token.usage".
	tokenType = attribute.Key("gen_ai.token.type")
)

// The values of gen_ai.operation.name that occur here, the well-known ones of
// "Inference", "Invoke agent span" and "Execute tool span".
const (
	opChat        = "chat"
	opInvokeAgent = "invoke_agent"
	opExecuteTool = "execute_tool"
)

// The metrics: "Generative AI client metrics", "Generative AI agent metrics",
// "Generative AI tool metrics".
const (
	metricTokenUsage        = "gen_ai.client.token.usage"
	metricOperationDuration = "gen_ai.client.operation.duration"
	metricTimeToFirstChunk  = "gen_ai.client.operation.time_to_first_chunk"
	metricInvokeAgent       = "gen_ai.invoke_agent.duration"
	metricExecuteTool       = "gen_ai.execute_tool.duration"
)

// What the conventions have no name for. The names are Shoal's own.
const (
	agentTurnID             = attribute.Key("agent.turn_id")
	agentStep               = attribute.Key("agent.step")
	agentAttempt            = attribute.Key("agent.attempt")
	agentTotalIterations    = attribute.Key("agent.total_iterations")
	agentTotalFunctionCalls = attribute.Key("agent.total_function_calls")
	agentTerminationReason  = attribute.Key("agent.termination_reason")
	agentWasTerminated      = attribute.Key("agent.was_terminated")
	agentOutcome            = attribute.Key("agent.outcome")
	agentCost               = attribute.Key("agent.cost")
	agentToolStatus         = attribute.Key("agent.tool.status")

	metricAgentInput     = "agent.usage.input_tokens"
	metricAgentOutput    = "agent.usage.output_tokens"
	metricAgentTotal     = "agent.usage.total_tokens"
	metricAgentCached    = "agent.usage.cached_input_tokens"
	metricAgentReasoning = "agent.usage.reasoning_tokens"
	metricAgentCost      = "agent.cost"
)
