-- The time of the decision, in microseconds since 1970: exact in a double until 2255.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function keep(key, value, at) redis.call('SET', key, value, 'PXAT', math.ceil(at / 1000)) end
