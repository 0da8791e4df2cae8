// The program in an isolated process: it reads a request, does the task and writes the answer. Whatever a tool does to this process, it can
// only change what its own answer says.
import { text } from 'node:stream/consumers'
import type { ProcessRequest } from './process-messages.ts'
import { encodeAnswer } from './process-messages.ts'
import { workReally } from './real-shell.ts'

const { files, ...rest } = JSON.parse(await text(process.stdin)) as ProcessRequest
const request = { ...rest, files: new Map(files.map(([path, base64]) => [path, Buffer.from(base64, 'base64')])) }
const isReal = request.hasRealShell && request.task.tool === 'bash'
// The virtual shell is large, and a real one does without.
const answer = isReal ? await workReally(request) : await (await import('./virtual-shell.js')).workVirtually(request)
process.stdout.end(encodeAnswer(answer))
