// Relays the text of a model as a UI message stream with the Vercel AI SDK, like the
// route of a chat page.
//
//	node server.mjs HOST:PORT BASE-URL
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const [, , address, baseURL] = process.argv;
const [host, port] = address.split(':');
const model = createOpenAICompatible({ name: 'played', baseURL, apiKey: 'none' })('played');

createServer((req, res) => {
  if (req.url !== '/stream') {
    res.end();
    return;
  }
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  streamText({ model, prompt: 'Go on.', maxRetries: 0, abortSignal: gone.signal, onError: () => res.destroy() }).pipeUIMessageStreamToResponse(res);
}).listen(Number(port), host);
