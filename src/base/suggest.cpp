#include "base/suggest.hpp"

#include <algorithm>
#include <vector>

namespace plim {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: the current one, the last, and the one before that for swaps.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestWord = 64;  // longer words are not typing mistakes
  if (word.empty() || word.size() > kLongestWord) return "";
  std::string_view best;
  std::size_t best_distance = std::min<std::size_t>(3, (word.size() + 2) / 3 + 1);
  for (std::string_view candidate : candidates) {
    // The beginning of a word counts as one mistake: "comp" means "completion".
    std::size_t distance =
        word.size() > 1 && candidate.starts_with(word) ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace plim
