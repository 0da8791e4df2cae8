export { AssertionFailed, deepEqual, equal, ok, rejects } from './assert.ts'
export {
  type CrashCase,
  type CrashFailure,
  type CrashFault,
  type CrashMatchers,
  type CrashReport,
  type CrashTestOptions,
  crashMatchers,
  crashTest,
  type DefineJob,
  type Triggerable,
} from './crash-test/index.ts'
export { drain } from './drain.ts'
export {
  type Case,
  type Chapter,
  type ContractOptions,
  describeStore,
  type Skip,
  type StoreSetup,
  storeContract,
  type TestRunner,
  type World,
} from './store-contract/index.ts'
export { type VirtualEnv, type VirtualEnvOptions, virtualEnv } from './virtual-env.ts'
