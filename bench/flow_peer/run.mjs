// Runs slices through the worker of @terascope/job-components and prints what they cost, as JSON.
// usage: run.mjs CASE ARGUMENTS, in a folder with the package installed; CASE is count SLICES SIZE, or file PATH SLICE OUT
import fs from 'node:fs';
import path from 'node:path';
import { TestContext, WorkerExecutionContext, newTestExecutionConfig, newTestSlice } from '@terascope/job-components';

const BUNDLE = '0123456789012345678901234567890123456789';
const assets = path.resolve('assets');
fs.mkdirSync(path.join(assets, BUNDLE), { recursive: true });
fs.copyFileSync(new URL('bundle.mjs', import.meta.url), path.join(assets, BUNDLE, 'index.js'));
fs.writeFileSync(path.join(assets, BUNDLE, 'package.json'), '{"type":"module"}');

const [kind, ...words] = process.argv.slice(2);
const slices = [];
let operations;
if (kind === 'count') {
    const [count, size] = words.map(Number);
    operations = [{ _op: 'count' }, { _op: 'noop' }];
    for (let i = 0; i < count; i++) slices.push({ count: size, processed: i * size });
} else {
    const [file, size, out] = [words[0], Number(words[1]), words[2]];
    fs.mkdirSync(out, { recursive: true });
    operations = [{ _op: 'lines' }, { _op: 'at_least' }, { _op: 'write', path: out }];
    const total = fs.statSync(file).size;
    for (let at = 0; at < total; at += size) {
        const early = at > 0 ? 1 : 0;
        slices.push({ path: file, offset: at - early, length: Math.min(size, total - at) + early });
    }
}

const context = new TestContext('bench', { assignment: 'worker' });
context.sysconfig.teraslice.assets_directory = assets;
const worker = await WorkerExecutionContext.createContext({
    context,
    assetIds: [BUNDLE],
    executionConfig: newTestExecutionConfig({ operations, assets: [BUNDLE], max_retries: 3, analytics: true }),
});
await worker.initialize();
await worker.runSlice(newTestSlice(kind === 'count' ? { count: 100, processed: 0 } : slices[0]));  // to warm up
if (kind === 'file') {
    worker.processors[1].slices = 0;
}
const before = process.cpuUsage();
let records = 0;
for (const request of slices) {
    const { results } = await worker.runSlice(newTestSlice(request));
    records += results.length;
}
const { user, system } = process.cpuUsage(before);
await worker.shutdown();
console.log(JSON.stringify({ records_out: records, cpu_seconds: (user + system) / 1e6, rss: process.memoryUsage().rss }));
