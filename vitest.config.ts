import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'engine',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/tests/**/*.test.ts', 'examples/**/*.test.ts'],
          testTimeout: 20_000,
          globalSetup: ['packages/durably/tests/postgres/global-setup.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Programs that take the whole machine and measure it: after everything else, one by one.
        test: { name: 'proof', include: ['proof/src/**/*.test.ts'], fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
