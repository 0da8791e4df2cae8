// `npm run example -- <name>`: runs one compiled example.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../examples/dist/', import.meta.url))
const names = readdirSync(folder).flatMap((file) => (file.endsWith('.js') ? [file.slice(0, -3)] : []))
const [name] = process.argv.slice(2)

if (names.includes(name)) {
  process.exitCode = spawnSync(process.execPath, ['--no-warnings', `${folder}${name}.js`], { stdio: 'inherit' }).status ?? 1
} else {
  console.log(`usage: npm run example -- <name>\n\n${names.map((name) => `  ${name}`).join('\n')}`)
  process.exitCode = name === undefined ? 0 : 1
}
