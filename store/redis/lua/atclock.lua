-- The time comes from the caller, as the last argument. It says nothing about how long a key has to
-- live by the server's clock: every key lives for ten minutes.
local now = tonumber(ARGV[#ARGV])
local function keep(key, value, at) redis.call('SET', key, value, 'PX', 600000) end
