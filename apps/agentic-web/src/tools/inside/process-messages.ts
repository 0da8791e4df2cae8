// What a worker and an isolated process say to each other, each once: JSON, with all that a tool read or wrote as Base64, so that its size is
// known. The worker trusts nothing of the answer (bubblewrap/untrusted-answer.ts).
import type { SandboxAnswer, SandboxRequest } from './request.ts'

export interface ProcessRequest extends Omit<SandboxRequest, 'files'> {
  files: [path: string, base64: string][]
  /** `bash` is a real shell of this machine, and not the virtual one. */
  hasRealShell: boolean
  memoryMb: number
  processes: number
}

export type ProcessAnswer = SandboxAnswer

export function encodeAnswer({ content, ...rest }: SandboxAnswer): string {
  return JSON.stringify({ content: Buffer.from(content).toString('base64'), ...rest } satisfies ProcessAnswer)
}
