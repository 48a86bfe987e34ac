#!tests/transcript
# SPDX-License-Identifier: MIT
# two objectives and a bound: speed against error over all settings
> two.yaml
| name: two
| command: [sh, -c, 'echo "error=$((10 - 2 * {a})) ms=$(({a} * {a} + {b})) mem=$(({a} * {b}))"']
| params: {a: [1, 2, 3, 4], b: [1, 2]}
| objective: [{metric: error, goal: minimize}, {metric: ms, goal: minimize}]
| constraint: mem <= 6
| search: {algorithm: tpe, trials: 8, parallel: 1, seed: 1}
| knowledge: off
$ hone run two.yaml > out; grep -A4 finished out
experiment 1 'two' finished: 8 completed
  4 of 8 completed trials are beaten by no other in all objectives

Pareto front
trial  error  ms  [..]time  parameters
$ hone check two.yaml --minimize error --maximize ms | grep objective
objective   minimize error, maximize ms
$ hone check two.yaml --minimize error --maximize error
hone: --minimize error --maximize error: 'objective': the metric 'error' stands twice
? 2
$ hone best two | head -2
4 of 8 completed trials are beaten by no other in all objectives
hypervolume 44, 45.8% of the box between the worst (8, 18) and the best of each objective
$ hone show two --json | grep -o '"hypervolume.*'
"hypervolume":{"volume":44,"share":0.4583333333333333,"reference":[8,18]}}
$ hone ls two --where 'a == 4' --sort b | tr -s ' ' | cut -d ' ' -f 1-9
trial state error ms step time parameters
 1.1 completed 2 17 0 [..] a=4 b=1
 1.8 completed (breaks mem <= 6) 2 18
$ hone best two | grep -e '1[.]' | tr -s ' ' | cut -d ' ' -f 3,4,6-
2 17 4 1
4 10 3 1
6 5 2 1
8 2 1 1
$ hone best two --json | grep -o '"values":[^]]*]'
"values":[2,17]
"values":[4,10]
"values":[6,5]
"values":[8,2]
$ hone show two | grep -e objective -e minimize -e constraint -e best
objective    minimize error
             minimize ms
constraint   mem <= 6
best         4 of 8 completed trials are beaten by no other in all objectives
             hypervolume 44, 45.8% of the box between the worst (8, 18) and the best of each objective
$ hone plot two pareto --width 40 --height 12
1 two: what cannot be had together
ms over error
   │ ◆⣀                                
   │   ⠉⠒⠤⢄⡀                           
   │       ⠈⠑⠒⠤⣀•                      
10 ┤            ◆⠉⠒⠢⠤⣀⡀                
   │                  ⠈⠉⠒⠢◆⢄⣀⣀⡀        
   │                          ⠈⠉⠉⠒⠒⠒⠤◆ 
   └─────────────────┬─────────────────
                     5
• completed   ▾ breaks a bound   ◆ front
$ hone plot two pareto ms error --json | grep -o '"x":{"title":"[a-z]*"'
"x":{"title":"ms"
$ hone plot two pareto ms speed
hone plot: 'speed' is no objective of experiment 1: error, ms
'hone help plot' tells more
? 2
$ hone importance two --objective ms | head -2
what explains the spread of ms over 8 results
parameter  share      likely
# nothing keeps the bounds, or the metric of one never comes: that is said
$ hone run two.yaml --set 'constraint=[mem <= 0, lat <= 3]' --name none | grep -e constraints -e lat
trial 2.1 reported no 'lat': it cannot be the best
  no trial keeps its constraints: mem <= 0 (the lowest is 1), lat <= 3 (no trial reported lat)
$ hone best none
hone: experiment 2: no trial keeps its constraints: mem <= 0 (the lowest is 1), lat <= 3 (no trial reported lat); 'hone ls 2' shows how they stand
? 1
$ hone show none | grep ^best
best         no trial keeps its constraints: mem <= 0 (the lowest is 1), lat <= 3 (no trial reported lat)
$ hone show none.1 | grep breaks
breaks       mem <= 0 (it is 4), lat <= 3 (lat was not reported)
$ hone ls two | grep -o '(.*)'
(breaks mem <= 6)
$ hone run two.yaml --set 'constraint=[mem <= 2, error <= 4]' --name apart | grep constraints
  no trial keeps its constraints: mem <= 2 (3 of 8 do), error <= 4 (4 of 8 do)
$ hone run two.yaml --set 'objective=[error, nope]' --set 'constraint=[]' --name lack | grep 'no trial'
  no trial has all objectives: no trial reported nope
