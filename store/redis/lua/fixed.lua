-- A fixed window: the number of the window and its count.
--
-- fixed_take returns permits taken, whether to write, and the window, 0 and the count before.
local function fixed_take(key, o, least, most)
  local limit, window = tonumber(ARGV[o]), tonumber(ARGV[o + 1])
  local index = math.floor(now / window)
  local v, curr, settled = redis.pcall('GET', key), 0, false
  if type(v) == 'string' and #v == 16 then
    local i, c = struct.unpack('<dd', v)
    if not (whole(i) and whole(c)) then -- it is none of ours
    elseif i == index then
      curr = c
    elseif i > index then
      curr, settled = c, true
    end
  end
  local taken = most
  if curr + most > limit then
    taken = 0
    if least < most then
      taken = limit - curr
      if taken < least then taken = 0 end
    end
  end
  return taken, settled, index, 0, curr
end

local function fixed_keep(key, o, taken, index, _, curr)
  keep(key, struct.pack('<dd', index, curr + taken), (index + 1) * tonumber(ARGV[o + 1]))
end
