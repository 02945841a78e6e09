#include "cli/pools_words.hpp"

#include <algorithm>
#include <string_view>

#include "cli/pools_flags.hpp"

namespace plim::cli {
namespace {

// Go's flag package accepts long flags with one dash.
std::string with_two_dashes(std::string word) {
  if (word.size() < 3 || word[0] != '-' || word[1] == '-') return word;
  const std::string_view name = std::string_view(word).substr(1, word.find('=') - 1);
  const bool known =
      name == "kubeconfig" ||
      std::ranges::find(kPoolsAgentFlags, name, &Flag::name) != kPoolsAgentFlags.end();
  return known ? "-" + word : word;
}

// The output flags of glog. We always log to standard error.
bool is_log_flag(std::string_view word) {
  while (word.starts_with('-')) word.remove_prefix(1);
  const std::string_view name = word.substr(0, word.find('='));
  return name == "logtostderr" || name == "alsologtostderr";
}

// CPU-Pooler accepts --poolconfigs several times, our table takes one list.
std::vector<std::string> join_configs(const std::vector<std::string>& words) {
  constexpr std::string_view kFlag = "--poolconfigs";
  std::vector<std::string> out;
  std::string places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool joined = words[i].starts_with(kFlag) && words[i].size() > kFlag.size() &&
                        words[i][kFlag.size()] == '=';
    if (!joined && (words[i] != kFlag || i + 1 == words.size())) {
      out.push_back(words[i]);
      continue;
    }
    if (!places.empty()) places += ',';
    places += joined ? words[i].substr(kFlag.size() + 1) : words[++i];
  }
  if (!places.empty()) out.insert(out.end(), {std::string(kFlag), places});
  return out;
}

}  // namespace

std::vector<std::string> pools_words(std::vector<std::string> words) {
  if (words.empty()) return words;
  std::vector<std::string> out{"pools", "agent"};
  std::size_t first = 1;
  if (words[0] == "cpu-device-plugin") {
    out.insert(out.end(), {"--parts", "plugin"});
  } else if (words[0] == "cpusetter") {
    out.insert(out.end(), {"--parts", "setter"});
  } else if (words.size() > 1 && words[0] == "pools" && words[1] == "agent") {
    first = 2;
  } else if (words.size() > 1 && words[0] == "agent" &&
             (words[1] == "run" || words[1].starts_with('-'))) {
    out = {"agent"};
  } else {
    return words;
  }
  for (std::size_t i = first; i < words.size(); ++i)
    if (!words[i].starts_with('-') || !is_log_flag(words[i]))
      out.push_back(with_two_dashes(words[i]));
  return join_configs(out);
}

}  // namespace plim::cli
