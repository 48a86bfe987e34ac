#!/usr/bin/env node
// Pack the built pages into one assembler file: tools/pack-pages FOLDER OUT.S
//
// Each file is compressed once, here. The table that src/api/pages.c reads: path, type, tag (from
// its content), bytes, how many.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const types = {
    html: 'text/html; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    css: 'text/css; charset=utf-8',
    svg: 'image/svg+xml',
    json: 'application/json',
    png: 'image/png',
    ico: 'image/x-icon',
};

function files(folder, below = '') {
    return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
        const path = below ? `${below}/${entry.name}` : entry.name;
        return entry.isDirectory() ? files(folder, path) : [path];
    });
}

const [, , folder, out] = process.argv;
if (!folder || !out) {
    console.error('usage: tools/pack-pages FOLDER OUT.S');
    process.exit(2);
}
mkdirSync(dirname(out), { recursive: true });
let table = '';
let bytes = '';
const list = files(folder).filter((path) => !path.endsWith('.map')).sort();
list.forEach((path, i) => {
    const plain = readFileSync(join(folder, path));
    const type = types[path.split('.').pop()];
    if (!type) throw new Error(`${path}: no type is known for it`);
    const tag = createHash('sha256').update(plain).digest('hex').slice(0, 16);
    const packed = `${out}.${i}.gz`;
    writeFileSync(packed, gzipSync(plain, { level: 9 }));
    bytes += `path_${i}: .asciz ${JSON.stringify('/' + path)}\ntype_${i}: .asciz ${JSON.stringify(type)}\n`;
    bytes += `tag_${i}: .asciz ${JSON.stringify(tag)}\npage_${i}: .incbin ${JSON.stringify(packed)}\nend_${i}:\n`;
    table += `.quad path_${i}, type_${i}, tag_${i}, page_${i}, end_${i} - page_${i}, ${plain.length}\n`;
});
writeFileSync(
    out,
    `.section .rodata\n${bytes}.section .data.rel.ro,"aw"\n.balign 8\n.globl pages_packed\npages_packed:\n${table}` +
        `.quad 0, 0, 0, 0, 0, 0\n.section .note.GNU-stack,"",@progbits\n`,
);
