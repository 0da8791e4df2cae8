// `npm run runtimes`: packs the packages, installs them in an empty project, and runs the README's program there on every runtime.
import { tryRuntimes } from './packed/runtimes.ts'

const found = await tryRuntimes()
for (const { runtime, version, wrong } of found) console.log(`${runtime} (${version}): ${wrong || 'prints what the README says'}`)
if (found.some(({ wrong }) => wrong !== '')) process.exitCode = 1
