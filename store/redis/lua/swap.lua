-- ARGV: the word that has to be there, the next one, and the microseconds it lives, 0 for ever.
local v = word(KEYS[1])
if v ~= ARGV[1] then return {now, v, 0} end
if ARGV[3] == '0' then
  redis.call('SET', KEYS[1], ARGV[2])
else
  keep(KEYS[1], ARGV[2], now + ARGV[3])
end
return {now, v, 1}
