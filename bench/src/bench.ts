// `npm run bench -- <name>`: one measurement.
const BENCHES = ['stream-latency', 'sse', 'task-queue', 'browser']

const [name = ''] = process.argv.splice(2, 1)
if (BENCHES.includes(name)) await import(`./${name}.js`)
else console.log(`usage: npm run bench -- <name>\n\n${BENCHES.map((bench) => `  ${bench}`).join('\n')}`)
