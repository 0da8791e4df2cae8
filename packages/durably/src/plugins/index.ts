export { withLogPersistence } from './with-log-persistence.ts'
