export type { JobFile } from './job-file.ts'
export { main } from './main.ts'
export { type Io, systemIo } from './output/io.ts'
