import{ht as e}from"./index-CSYrztf5.js";import{_ as t,a as n,d as r,n as i,t as a}from"./still-part-BTFIoC1-.js";import{t as o}from"./jsx-runtime-Wy9s6hX0.js";function s(e){return{id:`prt_${e.toolName}`,type:`tool_call`,toolCallId:`call-1`,args:{},result:null,error:null,status:`done`,display:null,answeredBy:null,editedArgs:null,targetEntityId:null,...e}}function c(e){return{id:`pnd_1`,kind:`client_tool`,runId:`run_1`,agentId:`shop-agent`,spaceId:`shop`,messageId:`msg_1`,partId:`prt_1`,toolCallId:`call-1`,toolName:`showProductCard`,args:{},question:null,options:null,resultSchema:null,status:`open`,expiresAt:null,createdAt:`2026-11-20T10:00:00.000Z`,answeredBy:null,answeredAt:null,by:null,quorum:1,notRequester:!1,votes:[],eligible:1,requesters:[],argsHash:``,editedArgs:null,...e}}var l={name:`Lark Air 13`,about:`light, 16 hours of battery`,price:1199,currency:`USD`,inStock:!0},u={type:`object`,properties:{chosen:{type:`boolean`}},required:[`chosen`]},d={product:`Lark Air 13`,price:1199},f={customUI:`ProductCard`},p=[{title:`Being written`,part:s({toolName:`showProductCard`,display:f,status:`input_streaming`,args:{name:`Lark Air 13`}})},{title:`Running`,part:s({toolName:`searchInventory`,status:`running`,args:{query:`laptop`}})},{title:`Waiting for a choice`,part:s({toolName:`showProductCard`,display:f,status:`requires_action`,args:l}),pending:c({resultSchema:u})},{title:`Waiting for a permission`,part:s({toolName:`placeOrder`,status:`requires_action`,args:d}),pending:c({kind:`permission`,toolName:`placeOrder`,args:d})},{title:`Waiting, nothing known`,part:s({toolName:`placeOrder`,status:`requires_action`,args:d})},{title:`Done, folded`,part:s({toolName:`searchInventory`,args:{query:`laptop`},result:{found:3}}),took:412},{title:`Answered`,part:s({toolName:`showProductCard`,display:f,args:l,result:{chosen:!0},answeredBy:`ada`}),pending:c({status:`answered`,answeredBy:`ada`,answeredAt:`2026-11-20T14:07:00.000Z`})},{title:`Approved`,part:s({toolName:`placeOrder`,display:{mode:`full`},args:d,result:d,answeredBy:`ada`}),pending:c({kind:`permission`,status:`answered`,answeredBy:`ada`,answeredAt:`2026-11-20T14:07:00.000Z`})},{title:`Denied`,part:s({toolName:`placeOrder`,status:`denied`,args:d,error:`Ada denied it: too dear`,answeredBy:`ada`})},{title:`Failed`,part:s({toolName:`searchInventory`,status:`error`,args:{query:`laptop`},error:`The server of the shop answered 503. Try again in a minute.`}),took:3e4},{title:`Canceled`,part:s({toolName:`placeOrder`,status:`canceled`,display:{mode:`full`},args:d})},{title:`Interrupted`,part:s({toolName:`searchInventory`,status:`running`,display:{mode:`full`},args:{query:`laptop`}}),over:!0},{title:`Expired`,part:s({toolName:`placeOrder`,status:`denied`,args:d,error:`nobody answered in time`}),pending:c({kind:`permission`,status:`expired`})}],m=[`Jan`,`Feb`,`Mar`,`Apr`,`May`,`Jun`].map((e,t)=>({month:e,laptops:40+t*9,phones:80-t*6})),h=[{title:`Names and values`,value:{orderId:`A-1042`,placed:`2026-11-20T10:00:00Z`,contact:`ada@example.com`,page:`https://shop.example/orders/1042`,gift:!1,note:null,total:{amount:1199.5,currency:`EUR`}}},{title:`A product`,value:l},{title:`A table`,value:m.map(e=>({...e,growth:e.laptops-e.phones,note:`as planned`}))},{title:`A long table`,value:{rows:Array.from({length:450},(e,t)=>({n:t+1,name:`Item ${t+1}`,price:t*37%900}))},hint:`table`},{title:`Bars`,value:{type:`bar`,title:`Sold`,x:`month`,y:[`laptops`,`phones`],data:m,unit:`pieces`}},{title:`Lines`,value:{type:`line`,x:`month`,y:[`laptops`,`phones`],data:m}},{title:`Area`,value:{type:`area`,x:`day`,y:[`visits`],data:Array.from({length:200},(e,t)=>({day:t+1,visits:Math.round(500+300*Math.sin(t/12))}))}},{title:`Slices`,value:{type:`pie`,title:`Share`,x:`name`,y:[`part`],data:[{name:`Laptops`,part:55},{name:`Phones`,part:30},{name:`Other`,part:15}]}},{title:`Code`,value:{language:`go`,code:`package main

import "fmt"

// main says hello.
func main() {
	fmt.Println("hello", 42)
}`},hint:`code`},{title:`Changes`,value:{path:`config.yaml`,before:`name: shop
model: small
steps: 5
`,after:`name: shop
model: large
steps: 5
budget: 10
`},hint:`diff`},{title:`A picture in the value`,value:{mimeType:`image/png`,alt:`A blue square`,data:`iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mPgTuqgKWIYtWDUglELRi0YtWDUglELRi0YtWDUglELhooFALQs1C41q++KAAAAAElFTkSuQmCC`},hint:`image`},{title:`A picture elsewhere`,value:{url:`https://pictures.example.com/cat.png`,alt:`A cat`},hint:`image`},{title:`A file`,value:{name:`report.pdf`,mediaType:`application/pdf`,size:124e4,url:`/v1/sessions/default/files/fil_1`},hint:`file`},{title:`Content of an MCP tool`,value:{content:[{type:`text`,text:`**Two** results:`},{type:`resource_link`,name:`notes.txt`,mimeType:`text/plain`,uri:`https://kb.example/notes.txt`}]}},{title:`Any JSON`,value:{deep:{list:[1,2,{three:[!0,null,`text`]}]},empty:{},wide:Array.from({length:30},(e,t)=>t)}}],g=`A paragraph with **bold**, *italic*, ~~struck~~, \`code\` and a [link](https://example.com/page) whose host is told; https://example.com/ tells it itself.

## A heading

1. One
2. Two

   with a second paragraph
3. Three
   - inner
   - [x] done
   - [ ] not done

> A quote
> of two lines.

| Name | Price |
| --- | ---: |
| Lark Air 13 | 1199 |
| Wren 14 | 749 |

A [reference link][ref], \`Vec<u8>\` and Vec<u8>, <b>raw HTML</b> is not drawn.

![A picture of another server](https://pictures.example.com/a.png)

Hidden: a​b, ‮evil‬, tags 󠁩󠁧󠁮󠁯󠁲󠁥. Not hidden: 👩‍👩‍👧, می‌خواهم.

\`\`\`python
def greet(name: str) -> str:
    # says hello
    return f"hello {name}"
\`\`\`

---

[ref]: https://docs.example.org/ "A title"
`,_=[{title:`A file of this server`,part:{id:`prt_f1`,type:`file`,name:`report.pdf`,mediaType:`application/pdf`,size:124e4,url:`/v1/sessions/default/files/fil_1`}},{title:`A file elsewhere`,part:{id:`prt_f2`,type:`file`,name:`numbers.csv`,mediaType:`text/csv`,size:812,url:`https://files.example/numbers.csv`}},{title:`A picture elsewhere`,part:{id:`prt_f3`,type:`file`,name:`cat.png`,mediaType:`image/png`,size:48e3,url:`https://pictures.example.com/cat.png`}},{title:`Data`,part:{id:`prt_d1`,type:`data`,name:`order`,data:{orderId:`A-1042`,paid:!0}}},{title:`Data named chart`,part:{id:`prt_d2`,type:`data`,name:`chart`,data:{type:`bar`,x:`month`,y:[`laptops`],data:m}}},{title:`No data`,part:{id:`prt_d3`,type:`data`,name:`nothing`,data:{}}}],v=[{title:`Acknowledge`,pending:c({})},{title:`Yes or no`,pending:c({resultSchema:u})},{title:`One of some`,pending:c({resultSchema:{type:`object`,properties:{colour:{enum:[`red`,`green`,`blue`],title:`Colour`,description:`Which one do you like?`}},required:[`colour`]}})},{title:`Permission`,pending:c({kind:`permission`,toolName:`placeOrder`,args:d})},{title:`Question with options`,pending:c({kind:`question`,toolName:`ask_user`,question:`Which city do you mean?`,options:[`Paris, France`,`Paris, Texas`]})},{title:`Question`,pending:c({kind:`question`,toolName:`ask_user`,question:`What is the name of the project?`})},{title:`Offline`,pending:c({resultSchema:u}),blocked:`The server does not answer. You can answer when it is back: an answer is never kept for later.`},{title:`Expired`,pending:c({resultSchema:u,expiresAt:`2020-01-01T00:00:00.000Z`})},{title:`Form`,pending:c({resultSchema:{type:`object`,description:`Where to send it.`,required:[`name`,`quantity`,`express`,`address`],$defs:{zip:{type:`string`,pattern:`^[0-9]{5}$`,title:`Postal code`}},properties:{name:{type:`string`,title:`Name`,minLength:2},email:{type:`string`,format:`email`},quantity:{type:`integer`,minimum:1,maximum:20,default:1},express:{type:`boolean`,description:`Costs 10 more.`},size:{oneOf:[{const:13,title:`13 inch`},{const:16,title:`16 inch`}]},voucher:{type:[`string`,`null`]},tags:{type:`array`,items:{type:`string`},maxItems:3},address:{type:`object`,required:[`zip`],properties:{street:{type:`string`},zip:{$ref:`#/$defs/zip`}}},notes:{type:`string`,format:`multiline`},extra:{type:`object`}}}})}],y=o(),b={ada:`Ada`,"shop-agent":`Shop Agent`},x=e=>Object.hasOwn(b,e)?b[e]??e:e,S=()=>new Promise(()=>void 0);function C(){return(0,y.jsx)(e,{title:`Gallery`,about:`Every part in every state.`,children:(0,y.jsxs)(`div`,{className:`mx-auto flex max-w-4xl flex-col gap-8 p-5`,children:[(0,y.jsxs)(w,{title:`Text`,children:[(0,y.jsx)(T,{title:`Markdown`,children:(0,y.jsx)(t,{text:g})}),(0,y.jsx)(T,{title:`Growing`,children:(0,y.jsx)(t,{streaming:!0,text:`Here is **a bold word that is not yet clo

\`\`\`json
{"half": tr`})}),(0,y.jsx)(T,{title:`Interrupted`,children:(0,y.jsx)(a,{over:!1,part:{id:`prt_1`,type:`text`,text:`The three laptops are the`,status:`interrupted`}})}),(0,y.jsx)(T,{title:`Shown to another member`,children:(0,y.jsx)(a,{over:!0,part:{id:`prt_2`,type:`tool_call`,private:!0}})})]}),(0,y.jsx)(w,{title:`Tool calls`,children:p.map(e=>(0,y.jsx)(T,{title:e.title,children:(0,y.jsx)(i,{part:e.part,over:e.over,pending:e.pending,took:e.took,nameOf:x,answer:e.pending?.status===`open`?(0,y.jsx)(n,{pending:e.pending,submit:S,nameOf:x}):void 0})},e.title))}),(0,y.jsx)(w,{title:`Files and data`,children:_.map(e=>(0,y.jsx)(T,{title:e.title,children:(0,y.jsx)(a,{over:!0,part:e.part})},e.title))}),(0,y.jsx)(w,{title:`Values`,children:h.map(e=>(0,y.jsx)(T,{title:e.title,children:(0,y.jsx)(r,{value:e.value,hint:e.hint})},e.title))}),(0,y.jsx)(w,{title:`Answers`,children:v.map(e=>(0,y.jsx)(T,{title:e.title,children:(0,y.jsx)(n,{pending:e.pending,blocked:e.blocked,submit:S,nameOf:x})},e.title))})]})})}function w({title:e,children:t}){return(0,y.jsxs)(`section`,{className:`flex flex-col gap-4`,children:[(0,y.jsx)(`h2`,{className:`text-lg font-semibold`,children:e}),t]})}function T({title:e,children:t}){return(0,y.jsxs)(`article`,{className:`flex min-w-0 flex-col gap-1`,children:[(0,y.jsx)(`h3`,{className:`text-sm text-soft`,children:e}),(0,y.jsx)(`div`,{className:`min-w-0`,children:t})]})}export{C as Gallery};