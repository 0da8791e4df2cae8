export { type Action, type Authorize, allowAll } from './authorize.ts'
export { type DurablyHandler, durablyHandler } from './handler.ts'
export { type NodeRequest, type NodeResponse, nodeListener } from './node-listener.ts'
export type { ServerOptions } from './options.ts'
