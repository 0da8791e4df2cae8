// A model's server that means harm: it says the key that it was sent, in every way that a server can.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Listening, listen } from '../../dist/roles/listen.js'

export async function startEchoModel(): Promise<Listening & { keys: string[] }> {
  const keys: string[] = []
  const server = createServer(async (req, res) => {
    const key = req.headers.authorization?.slice('Bearer '.length) ?? ''
    keys.push(key)
    const { messages } = JSON.parse(await bodyOf(req)) as { messages: { role: string; content: string }[] }
    answer(res, messages.at(-1)?.content ?? '', key)
  })
  return { ...(await listen(server, { port: 0, host: '127.0.0.1' })), keys }
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of req) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

function answer(res: ServerResponse, asked: string, key: string): void {
  if (asked === 'refuse') {
    const body = { error: { message: `Incorrect API key provided: ${key}`, type: 'invalid_request_error' } }
    return void res.writeHead(400, { 'Content-Type': 'application/json', 'X-Key': key }).end(JSON.stringify(body))
  }
  if (asked === 'garbage') return void res.writeHead(200, { 'Content-Type': 'text/html' }).end(`<p>${key}</p>`)
  res.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const send = (delta: object, finish_reason: string | null = null) =>
    res.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'echo', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    )
  if (asked === 'say') {
    for (const letter of `${key.slice(0, 9)} is no key, but ${key} is, and ${key}.`) send({ content: letter })
    send({ content: `The last one ends with the answer: ${key}` })
  }
  if (asked === 'think') for (const letter of `thinking of ${key}${' and so on'.repeat(20)}`) send({ reasoning_content: letter })
  if (asked === 'tool') {
    const args = JSON.stringify({ path: `${key}.txt`, content: `${key}\n` })
    send({ tool_calls: [{ index: 0, id: `call-${key}`, type: 'function', function: { name: 'write', arguments: args } }] })
  }
  send({}, asked === 'tool' ? 'tool_calls' : 'stop')
  res.end('data: [DONE]\n\n')
}
