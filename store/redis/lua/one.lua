-- One limit. KEYS: its key. ARGV: least, most, and its numbers.
local most = tonumber(ARGV[2])
local taken, settled, a, b, c = LAW_take(KEYS[1], 3, tonumber(ARGV[1]), most)
if taken > 0 or settled then LAW_keep(KEYS[1], 3, taken, a, b, c) end
return {now, taken, a, b, c}
