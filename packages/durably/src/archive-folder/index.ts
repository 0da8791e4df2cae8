export { folder } from './folder.ts'
