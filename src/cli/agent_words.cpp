#include "cli/agent_words.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace plim::cli {
namespace {

// "wca:WARNING" becomes "warn". One level applies to all modules. Levels of modules that are not
// WCA's are ignored.
std::optional<std::string> level_of(std::string_view text) {
  auto [module, level] = cut(text, ':');
  if (text.find(':') == text.npos) {
    level = module;
    module = "wca";
  }
  if (module != "wca" && module != "agent" && !module.starts_with("wca.")) return std::nullopt;
  std::string out = to_lower(level);
  if (out == "critical") out = "error";
  if (out == "warning") out = "warn";
  if (out == "trace") out = "debug";
  return out;
}

}  // namespace

std::vector<std::string> agent_words(std::vector<std::string> words) {
  if (words.size() < 2 || words[0] != "agent") return words;
  const bool is_help = words[1] == "-h" || words[1] == "--help";
  if (words[1].starts_with('-') && !is_help) words.insert(words.begin() + 1, "run");
  if (words[1] != "run") return words;
  constexpr std::array<std::string_view, 3> kLevelFlags{"-l", "--log-level", "--log"};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::optional<std::string> level;
    for (std::string_view flag : kLevelFlags) {
      const bool joined = flag.size() > 2 && word.size() > flag.size() && word.starts_with(flag) &&
                          word[flag.size()] == '=';
      if (joined) level = word.substr(flag.size() + 1);
      if (word == flag && i + 1 < words.size()) level = words[++i];
      if (level) break;
    }
    if (level) {
      if (auto known = level_of(*level)) out.push_back("--log-level=" + *known);
    } else {
      out.push_back(word == "-v" ? "--version" : word);
    }
  }
  return out;
}

}  // namespace plim::cli
