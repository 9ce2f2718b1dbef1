-- whole reports whether a number read from a value can be one of ours: an integer from 0 to 2^53. What is
-- not, NaN and the infinite ones among them, somebody else has written.
local function whole(n) return n >= 0 and n <= 9007199254740992 and n % 1 == 0 end
