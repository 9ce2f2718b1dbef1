-- A sliding window: the number of the window, the count of the one before, and its own.

-- at_most reports whether a/b <= c/d, exactly where the products a*d and b*c would exceed 2^53:
-- it compares the continued fractions.
local function at_most(a, b, c, d)
  while true do
    local x, y = math.floor(a / b), math.floor(c / d)
    if x ~= y then return x < y end
    a, c = a - x * b, c - y * d
    if a == 0 then return true end
    if c == 0 then return false end
    a, b, c, d = d, c, b, a
  end
end

-- sliding_fits reports whether prev*(window-into) <= room*window.
local function sliding_fits(prev, left, room, window)
  if room < 0 then return false end
  if prev <= room then return true end
  if room == 0 then return false end
  local weight, space = prev * left, room * window
  if weight < 9007199254740992 and space < 9007199254740992 then return weight <= space end
  return at_most(prev, room, window, left)
end

-- sliding_take returns permits taken, whether to write, and the window and both counts before.
local function sliding_take(key, o, least, most)
  local limit, window = tonumber(ARGV[o]), tonumber(ARGV[o + 1])
  local index = math.floor(now / window)
  local left = window - (now - index * window)
  local v, prev, curr, settled = redis.pcall('GET', key), 0, 0, false
  if type(v) == 'string' and #v == 24 then
    local i, p, c = struct.unpack('<ddd', v)
    if not (whole(i) and whole(p) and whole(c)) then -- it is none of ours
    elseif i == index then
      prev, curr = p, c
    elseif i == index - 1 then
      prev = c
    elseif i > index then
      prev, curr, settled = p, c, true
    end
  end
  local taken = most
  if not sliding_fits(prev, left, limit - curr - most, window) then
    taken = 0
    if least < most then
      taken = math.min(most, limit - curr - math.floor(prev * (left / window))) -- or one or two fewer
      while taken > 0 and not sliding_fits(prev, left, limit - curr - taken, window) do taken = taken - 1 end
      if taken < least then taken = 0 end
    end
  end
  return taken, settled, index, prev, curr
end

local function sliding_keep(key, o, taken, index, prev, curr)
  -- What is written has a count of its own: it weighs until the end of the next window.
  keep(key, struct.pack('<ddd', index, prev, curr + taken), (index + 2) * tonumber(ARGV[o + 1]))
end
