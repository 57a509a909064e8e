// SPDX-License-Identifier: MIT
/*
 * A program over anything with create({timeoutMs, memMB}) to {run(source, data), dispose()}.
 * The line of the import is all that differs; it prints what each function gave.
 */
import { create } from 'the-package';

const records = Array.from({ length: 2000 }, (_, i) => ({ id: i, name: `Server ${i}`, risk: (i * 7919) % 101, category: ['db', 'web', 'iot'][i % 3] }));
const FUNCTIONS = [
  ['(data)=>data.length', records],
  ['(data)=>data.filter(d=>d.risk>90).map(d=>d.name)', records],
  ['(data)=>{const m={};for(const d of data)(m[d.category]??=[]).push(d.risk);return Object.entries(m).map(([k,v])=>[k,v.length,Math.max(...v)])}', records],
  ['(n)=>{function f(n){return n<2?n:f(n-1)+f(n-2)}return f(n)}', 18],
  ['(n)=>{let s=0;for(let i=0;i<n;i++){s=(s+i*i)%1000003}return s}', 100000],
  ["(s)=>s.split(' ').map(w=>w.toUpperCase()).reverse().join('-')", 'one two three'],
  ["(s)=>[...s.matchAll(/([a-z]+)_(\\d+)/g)].map(m=>[m[1],Number(m[2])])", 'user_1 item_22 user_333'],
  ['(d)=>({a:[1,2,{b:null}],c:"größe",d:1e21,e:-0.5,f:true})', null],
  ['(d)=>JSON.parse(JSON.stringify(d))', { deep: { er: [[[1]]] } }],
  ['(d)=>[3,1,2].sort((a,b)=>a-b).concat([...new Set([1,1,2])])', null],
  ['(d)=>{try{return d.x.y}catch(e){return e instanceof TypeError}}', {}],
  ['(d)=>new Date(86400000).toISOString()', null],
  ['(d)=>{throw new Error("own words")}', null],
  ['(d)=>d.x.y', {}],
  ['(d)=>missing', null],
  ['(d)=>typeof process === "undefined" && typeof require === "undefined"', null],
];

const sandbox = await create({ timeoutMs: 5000, memMB: 128 });
for (const [code, data] of FUNCTIONS) {
  const result = await sandbox.run(code, data);
  console.log(JSON.stringify(result.ok ? { code, ok: true, value: result.value } : { code, ok: false }));
}
process.kill(process.pid, 'SIGKILL'); /* some cannot exit by themselves */
