import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

/** Lists the files of the build, so that the service worker can cache all of them. */
function fileList(): Plugin {
  return {
    name: 'file-list',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      const entries = readdirSync(join(dir, 'assets'))
      writeFileSync(join(dir, 'files.json'), JSON.stringify(entries.map((file) => `assets/${file}`)))
    },
  }
}

// There is no plugin for React: Vite compiles JSX by itself. After an edit the page reloads, and its runs survive that.
export default defineConfig({
  base: './',
  plugins: [fileList()],
  // The database runs in a worker, which loads its wasm file from the same folder.
  optimizeDeps: { exclude: ['@coji/durably', '@sqlite.org/sqlite-wasm'] },
  worker: { format: 'es' },
})
