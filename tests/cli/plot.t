#!tests/transcript
# SPDX-License-Identifier: MIT
# results to draw: the second is stopped in the record, the third failed
> runs.csv
| trial,state,value,attempts,seconds,lr,kind,n
| 1.1,completed,0.9,1,1,0.001,a,1
| 1.2,stopped,0.8,1,1,0.1,b,2
| 1.3,failed,,1,1,0.01,a,3
| 1.4,completed,0.5,1,1,0.03,b,4
| 1.5,completed,0.2,1,1,0.01,a,5
| 1.6,completed,0.4,1,1,0.005,b,6
$ hone import runs.csv --objective value:minimize > out
$ hone plot runs --width 50 --height 14
1 runs: results in their order
value over trial
    │ ⠐•⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⡆                 
    │          ▾               ⡇                 
    │                          ⡇                 
    │                          ⡇                 
0.5 ┤                         •⠧⠤⠤⠤⠤⠤⠤⠤⡄         
    │                                  ⡇      •  
    │                                  ⡇         
    │                  ×              ◆⠧⠤⠤⠤⠤⠤⠤⠤⠄ 
    └──────────┬──────────────┬───────────────┬──
               2              4               6
⠤ best so far   • value   ▾ stopped early
× failed   ◆ best
$ hone plot last history --width 50 --height 14 --ascii
1 runs: results in their order
value over trial
    | .o........................                 
    |          v               .                 
    |                          .                 
    |                          .                 
0.5 +                         o.........         
    |                                  .      o  
    |                                  .         
    |                  x              *......... 
    +----------+--------------+---------------+--
               2              4               6
. best so far   o value   v stopped early
x failed   * best
$ LC_ALL=C hone plot runs slice lr --width 50 --height 12
1 runs: results by one parameter
value over lr
    |  o                                         
    |                                            
    |                                            
0.5 +                o              o            
    |                                            
    |                      *                     
    +--+-------------------+------------------+--
     0.001               0.01                0.1
o completed   * best
$ hone plot runs slice kind --width 40 --height 10
1 runs: results by one parameter
value over kind
    │        •                         
    │                                  
0.5 ┤                         •        
    │                         •        
    │        ◆                         
    └────────┬────────────────┬────────
             a                b
• completed   ◆ best
$ hone plot runs contour lr n --width 40 --height 12
1 runs: results by two parameters
n over lr
6 ┤▓▓▓▓▓▓▓▓▓▓▓▓▓•█████████████▓▓▓▓▓▓▓▓▓
  │▓▓▓▓▓▓████████████◆███▓▓▒▒▒▒▒▒▒▒▒▒▓▓
4 ┤▒▒▒▒▒▓▓▓▓▓▓▓███▓▓▓▓▓▓▓▒▒▒•▒▒▒▒▒▒▒▒▒▒
  │       ░░░░▒▒▒▒▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▓
2 ┤              ░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▓
  │ •                ░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒
  └─┬────────────────┬───────────────┬─
   0.001           0.01             0.1
• trial   ◆ best
░ 0.9 to 0.20003 █ value
$ hone plot runs parallel --width 40 --height 14
1 runs: settings and results
0.1          b           6          0.9
│            │     ⢀⣀⠤⠤⠔⠊│⠒⢄         ⡠│
│⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀│⣤⠔⠒⠉⠉⠁    ⡠│⢄ ⠉⠢⢄    ⣀⠜ │
│      ⢀⡠⠤⠒⠉⠁│ ⠉⠉⠉⠑⠒⢒⡲⠴⠮⢅│⣀⣑⠢⡀ ⠑⠢⣠⠊   │
│⠤⢄⣀⠤⠖⠉⠁     │   ⣀⠤⠒⠁    │  ⠉⠉⠓⢖⠞⠪⠦⢤⣀⣀│
│⠊⠉ ⠉⠑⠒⠢⠤⢄⣀⡀ │⣠⠔⠉        │   ⢀⠔⠁⠑⢢  ⠉⠢│
│      ⣀⣀⠤⠤⠚⠛│⠒⠤⠤⢄⣀      │ ⢀⠔⠁    ⠑⠢⡀ │
│⡠⠤⠔⠒⠋⠉      │     ⠉⠉⠒⠒⠤⢄│⠔⠁        ⠈⠒│
0.001        a           1          0.2
lr         kind          n        value
# for scripts
$ hone plot runs --json
{"plot":"history","experiment":1,"title":"1 runs: results in their order","x":{"title":"trial","scale":"linear","min":0.8,"max":6.2},"y":{"title":"value","scale":"linear","min":0.17200000000000001,"max":0.928},"layers":[{"name":"best so far","mark":"steps","points":[{"x":1,"y":0.9,"trial":null},{"x":2,"y":0.9,"trial":null},{"x":3,"y":0.9,"trial":null},{"x":4,"y":0.5,"trial":null},{"x":5,"y":0.2,"trial":null},{"x":6,"y":0.2,"trial":null}]},{"name":"value","mark":"dot","points":[{"x":1,"y":0.9,"trial":"1.1"},{"x":4,"y":0.5,"trial":"1.4"},{"x":5,"y":0.2,"trial":"1.5"},{"x":6,"y":0.4,"trial":"1.6"}]},{"name":"stopped early","mark":"stopped","points":[{"x":2,"y":0.8,"trial":"1.2"}]},{"name":"failed","mark":"failed","points":[{"x":3,"y":null,"trial":"1.3"}]},{"name":"best","mark":"best","points":[{"x":5,"y":0.2,"trial":"1.5"}]}],"note":null}
$ hone plot runs contour lr n --json | grep -o '"shade":{[^}]*}'
"shade":{"title":"value","scale":"linear","min":0.8999994938289615,"max":0.2000302924623672}
# a picture: whole XML, one sign a result
$ hone plot runs --svg - | python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.stdin); print([len(d.getElementsByTagName(t)) for t in ("circle", "title")])'
[5, 7]
$ for k in "slice lr" "slice kind" "contour lr n" "contour lr kind" parallel; do hone plot runs $k --svg x.svg && python3 -c 'import xml.dom.minidom as m; m.parse("x.svg")'; done
wrote x.svg
wrote x.svg
wrote x.svg
wrote x.svg
wrote x.svg
$ hone plot runs --svg nowhere/x.svg
hone: cannot write nowhere/x.svg: No such file or directory
? 1
# what cannot be drawn
$ hone plot runs pareto
hone plot: experiment 1 has one objective: a Pareto front takes two or more
'hone help plot' tells more
? 2
$ hone plot runs slice lrr
hone plot: there is no parameter 'lrr', did you mean 'lr'?
'hone help plot' tells more
? 2
$ hone plot runs slice
hone plot: it is: hone plot EXPERIMENT slice PARAM
'hone help plot' tells more
? 2
$ hone plot runs contour lr lr
hone plot: it takes two different parameters, not 'lr' twice
'hone help plot' tells more
? 2
$ hone plot runs pie
hone plot: there is no plot 'pie': history, slice, contour, parallel or pareto
'hone help plot' tells more
? 2
$ hone run --trials 1 --minimize loss --param a=1 --param b=1,2 -- sh -c 'exit 1' > out; hone plot last; hone plot last slice b; hone plot last parallel; hone plot last slice a
2 sh: results in their order
loss over trial
  1 ┤                                                                          
    │                                                                          
    │                                                                          
0.8 ┤                                                                          
    │                                                                          
    │                                                                          
0.6 ┤                                                                          
    │                                                                          
    │                                                                          
0.4 ┤                                                                          
    │                                                                          
    │                                                                          
0.2 ┤                                                                          
    │                                                                          
    │                                                                          
  0 ┤                                    ×                                     
    └────────────────────────────────────┬─────────────────────────────────────
                                         1
× failed
hone: no trial with parameter 'b' has completed yet
hone: no trial of experiment 2 has completed yet
hone plot: parameter 'a' has one value only: there is nothing to see
'hone help plot' tells more
? 2
