// The contract that every store passes. A new store is "make this pass":
//   describeStore({ describe, it }, 'my store', setup)
export type { Case, Chapter, UserTable, World } from './chapter.ts'
export { storeContract } from './chapters.ts'
export { type ContractOptions, describeStore, type Skip, type StoreSetup, type TestRunner } from './describe-store.ts'
