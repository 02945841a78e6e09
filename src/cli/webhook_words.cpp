#include "cli/webhook_words.hpp"

#include <string_view>

namespace plim::cli {

std::vector<std::string> webhook_words(std::vector<std::string> words) {
  if (words.empty() || words[0] != "webhook") return words;
  constexpr std::string_view kPools = "--poolconfigs";
  std::vector<std::string> out;
  std::string places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = std::move(words[i]);
    if (word.size() > 2 && word[0] == '-' && word[1] >= 'a' && word[1] <= 'z') word.insert(0, "-");
    if (word.starts_with("--logtostderr") || word.starts_with("--alsologtostderr")) continue;
    std::string place;
    if (word == kPools && i + 1 < words.size())
      place = std::move(words[++i]);
    else if (word.starts_with(kPools) && word.size() > kPools.size() && word[kPools.size()] == '=')
      place = word.substr(kPools.size() + 1);
    if (place.empty())
      out.push_back(std::move(word));
    else
      places += (places.empty() ? "" : ",") + place;
  }
  if (!places.empty()) out.push_back(std::string(kPools) + "=" + places);
  return out;
}

}  // namespace plim::cli
