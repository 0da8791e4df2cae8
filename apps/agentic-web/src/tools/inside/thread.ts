// The thread of the virtual sandbox. It has no environment variables, and its parent ends it when it takes too long.
import { parentPort, workerData } from 'node:worker_threads'
import type { SandboxRequest } from './request.ts'
import { workVirtually } from './virtual-shell.ts'

parentPort?.postMessage(await workVirtually(workerData as SandboxRequest))
