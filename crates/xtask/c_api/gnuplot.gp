set terminal tikz size 10cm,7cm
set title "Sine and cosine"
plot [0:6.28] sin(x) with lines, cos(x) with points
