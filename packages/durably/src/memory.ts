export { type MemoryStoreOptions, memoryStore } from './store/memory/memory-store.ts'
