-- ARGV: the word, and the microseconds it lives, 0 for ever.
if ARGV[2] == '0' then
  redis.call('SET', KEYS[1], ARGV[1])
else
  keep(KEYS[1], ARGV[1], now + ARGV[2])
end
return {now}
