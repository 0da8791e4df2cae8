import { BubblewrapSandbox } from './bubblewrap/bubblewrap-sandbox.ts'
import { refusal } from './inside/request.ts'
import type { ToolSandbox } from './sandbox.ts'
import type { ToolConfig } from './tool-config.ts'
import { VirtualSandbox } from './virtual/virtual-sandbox.ts'

export function openSandbox({ sandbox, sandboxUid, memoryMb, processes, offered }: ToolConfig): ToolSandbox {
  switch (sandbox) {
    case 'virtual':
      return new VirtualSandbox()
    case 'bubblewrap': {
      const report = (problem: string) => console.error(`agentic-web: ${problem}`)
      return new BubblewrapSandbox({ uid: sandboxUid, memoryMb, processes, hasRealShell: offered.includes('bash'), report })
    }
    case 'none':
      return NO_SANDBOX
  }
}

/** A run that began with another configuration may still ask for a tool that is not offered any more. */
const NO_SANDBOX: ToolSandbox = {
  name: 'none',
  check: async () => {},
  run: async () => refusal('stopped', 'There is no sandbox for this tool here.'),
}
