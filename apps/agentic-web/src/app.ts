// What every role of the program shares: the engine, the database, the job and the configuration.
import type { Durably } from '@coji/durably'
import type { Config } from './config.ts'
import { type AppDatabase, appDatabase } from './db/tables.ts'
import { openEngine } from './engine.ts'
import { OauthClient } from './oauth/client.ts'
import { KeyRing } from './secrets/key-ring.ts'
import { openSandbox } from './tools/open-sandbox.ts'
import type { ToolSandbox } from './tools/sandbox.ts'
import { type AgentJob, defineAgentRun } from './worker/agent-run.ts'
import { type CleanUpJob, defineCleanUp } from './worker/clean-up.ts'

export interface App {
  config: Config
  durably: Durably
  db: AppDatabase
  keys: KeyRing
  oauth: OauthClient
  sandbox: ToolSandbox
  job: AgentJob
  cleanUp: CleanUpJob
}

export function openApp(config: Config): App {
  const durably = openEngine(config)
  const job = defineAgentRun(durably, () => app, config.limits.runMs)
  const cleanUp = defineCleanUp(durably, () => app)
  const app: App = {
    config,
    durably,
    db: appDatabase(durably),
    keys: new KeyRing(config.keys),
    oauth: new OauthClient(),
    sandbox: openSandbox(config.tools),
    job,
    cleanUp,
  }
  return app
}
