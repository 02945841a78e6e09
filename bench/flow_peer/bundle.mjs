// Operations for Teraslice's own worker, as its documentation shows how to write them: a reader that counts, a reader of lines
// by byte range, a filter, a writer of one file per slice.
import fs from 'node:fs/promises';
import path from 'node:path';
import { BatchProcessor, ConvictSchema, Fetcher, FilterProcessor, Slicer } from '@terascope/job-components';

class Schema extends ConvictSchema {
    build() { return {}; }
}

class NoSlicer extends Slicer {
    async slice() { return null; }
}

class Count extends Fetcher {
    async fetch({ count, processed }) {
        const out = new Array(count);
        for (let i = 0; i < count; i++) {
            const id = processed + i;
            out[i] = { id, value: (id * 7) % 1000 };
        }
        return out;
    }
}

class Lines extends Fetcher {
    async fetch({ path: file, offset, length }) {
        const handle = await fs.open(file);
        try {
            const margin = 64 * 1024;
            const buffer = Buffer.allocUnsafe(length + margin);
            const { bytesRead } = await handle.read(buffer, 0, length + margin, offset);
            let begin = offset > 0 ? buffer.indexOf(10) + 1 : 0;
            let end = bytesRead;
            if (bytesRead > length && buffer[length - 1] !== 10) end = buffer.indexOf(10, length) + 1;
            else if (bytesRead > length) end = length;
            const text = buffer.toString('utf8', begin, end);
            const out = [];
            for (const line of text.split('\n')) if (line) out.push(JSON.parse(line));
            return out;
        } finally {
            await handle.close();
        }
    }
}

class AtLeast extends FilterProcessor {
    filter(record) { return record.bytes >= 2000000; }
}

class Write extends BatchProcessor {
    async onBatch(records) {
        let text = '';
        for (const record of records) text += `${JSON.stringify(record)}\n`;
        const name = path.join(this.opConfig.path, `${String(this.slices = (this.slices ?? 0) + 1).padStart(8, '0')}.ldjson`);
        await fs.writeFile(`${name}.tmp`, text);
        await fs.rename(`${name}.tmp`, name);
        return records;
    }
}

export const ASSETS = {
    count: { Fetcher: Count, Slicer: NoSlicer, Schema },
    lines: { Fetcher: Lines, Slicer: NoSlicer, Schema },
    at_least: { Processor: AtLeast, Schema },
    write: { Processor: Write, Schema },
};
export default { ASSETS };
