import type { AdvisedCommands } from './advised-commands.ts'
import { CliError } from './exit-code.ts'

const LABEL = /^[^=\s]+=./

/** People know an order, not the id of its run. */
export function noSuchRun(id: string, commands: AdvisedCommands): CliError {
  const said = `there is no run ${JSON.stringify(id)}`
  if (LABEL.test(id)) return new CliError(`${said}; this finds runs by a label: ${commands.runsWithLabel(id)}`)
  return new CliError(`${said}; durably runs lists the newest, and durably runs --label name=value those with a label`)
}
