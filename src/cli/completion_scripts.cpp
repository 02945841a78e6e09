// The completion scripts. All three walk the words in the same way: they skip the values of flags,
// join the other words to the command name, and look up the rest in lists made from the table. They
// call the program only for names that are not in the table.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cli/completion.hpp"

namespace plim::cli {
namespace {

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string fill(std::string text,
                 std::initializer_list<std::pair<std::string_view, std::string>> parts) {
  for (const auto& [name, value] : parts) text = replace_all(std::move(text), name, value);
  return text;
}

std::string shell_quote(std::string_view text) {
  return fmt::format("'{}'", replace_all(std::string(text), "'", "'\\''"));
}

std::string fish_quote(std::string_view text) {
  return fmt::format("'{}'", replace_all(replace_all(std::string(text), "\\", "\\\\"), "'", "\\'"));
}

bool is_live(Live kind) {
  return kind != Live::none && kind != Live::file && kind != Live::directory;
}

std::vector<const Command*> visible_commands() {
  std::vector<const Command*> out;
  for (const Command& command : commands())
    if (!command.hidden) out.push_back(&command);
  return out;
}

std::vector<const Flag*> visible_flags(const Command* command) {
  std::vector<const Flag*> out;
  auto add = [&](std::span<const Flag> flags) {
    for (const Flag& flag : flags)
      if (!flag.hidden) out.push_back(&flag);
  };
  if (command != nullptr) add(command->flags);
  add(global_flags());
  return out;
}

// Spellings of all flags that take a value: "--context", "-n".
std::set<std::string> value_flags() {
  std::set<std::string> out;
  auto add = [&](std::span<const Flag> flags) {
    for (const Flag& flag : flags) {
      if (!flag.takes_value()) continue;
      out.insert(fmt::format("--{}", flag.name));
      if (flag.letter != 0) out.insert(fmt::format("-{}", flag.letter));
    }
  };
  add(global_flags());
  for (const Command& command : commands()) add(command.flags);
  return out;
}

struct Word {
  std::string text;
  std::string_view summary;
};

// Every place where a word continues a command: {"", {version, …, explain}}, {"explain", {error}}.
std::vector<std::pair<std::string, std::vector<Word>>> command_places() {
  std::vector<std::pair<std::string, std::vector<Word>>> out{{"", {}}};
  auto words_at = [&](std::string_view place) -> std::vector<Word>& {
    auto at = std::ranges::find(out, place, [](const auto& entry) { return entry.first; });
    return at != out.end() ? at->second : out.emplace_back(place, std::vector<Word>{}).second;
  };
  for (const Command* command : visible_commands()) {
    std::size_t space = command->name.find(' ');
    if (space == command->name.npos) {
      words_at("").push_back({std::string(command->name), command->summary});
      continue;
    }
    std::string group(command->name.substr(0, space));
    auto& top = words_at("");
    if (std::ranges::find(top, group, &Word::text) == top.end())
      top.push_back({group, command->summary});
    words_at(group).push_back({std::string(command->name.substr(space + 1)), command->summary});
  }
  return out;
}

// Patterns "place word" for all words of command names.
std::vector<std::string> command_patterns() {
  std::vector<std::string> out;
  for (const auto& [place, words] : command_places())
    for (const Word& word : words) out.push_back(fmt::format("{} {}", place, word.text));
  return out;
}

std::string spellings(const Flag& flag, std::string_view command, std::string_view separator,
                      std::string (*quote)(std::string_view)) {
  std::string out = quote(fmt::format("{} --{}", command, flag.name));
  if (flag.letter != 0)
    out += fmt::format("{}{}", separator, quote(fmt::format("{} -{}", command, flag.letter)));
  return out;
}

std::string choice_words(std::string_view choices) {
  return replace_all(std::string(choices), "|", " ");
}

// The values of each flag, as case arms for bash and zsh. The two shells have different names for
// the lists.
std::string value_arms() {
  std::string out;
  auto arm = [&](const std::string& pattern, std::string_view choices, Live live) {
    if (!choices.empty())
      out += fmt::format("    {}) list={} ;;\n", pattern, shell_quote(choice_words(choices)));
    else if (live == Live::file || live == Live::directory)
      out +=
          fmt::format("    {}) source={} ;;\n", pattern, live == Live::file ? "files" : "folders");
    else if (is_live(live))
      out += fmt::format("    {}) source=live ;;\n", pattern);
    else
      out += fmt::format("    {}) source=none ;;\n", pattern);
  };
  for (const Command* command : visible_commands()) {
    for (const Flag& flag : command->flags)
      if (!flag.hidden && flag.takes_value())
        arm(spellings(flag, command->name, "|", shell_quote), flag.choices, flag.live);
    if (!command->formats.empty())
      arm(spellings(*find_flag(nullptr, "output"), command->name, "|", shell_quote),
          command->formats, Live::none);
  }
  for (const Flag& flag : global_flags()) {
    if (!flag.takes_value()) continue;
    std::string pattern = fmt::format("*' --{}'", flag.name);
    if (flag.letter != 0) pattern += fmt::format("|*' -{}'", flag.letter);
    arm(pattern, flag.choices, flag.live);
  }
  return out;
}

// The arguments of each command. Only the first differs from the others; the last repeats.
std::string argument_arms() {
  std::string out;
  for (const Command* command : visible_commands()) {
    if (command->positionals.empty()) continue;
    const Positional& first = command->positionals.front();
    std::string place = first.repeats ? shell_quote(fmt::format("{} ", command->name)) + "*"
                                      : shell_quote(fmt::format("{} 0", command->name));
    if (!first.choices.empty())
      out += fmt::format("    {}) list={} ;;\n", place, shell_quote(choice_words(first.choices)));
    else if (first.live == Live::file || first.live == Live::directory)
      out += fmt::format("    {}) source={} ;;\n", place,
                         first.live == Live::file ? "files" : "folders");
    else if (is_live(first.live))
      out += fmt::format("    {}) source=live ;;\n", place);
  }
  return out;
}

std::string joined_patterns(std::string_view separator) {
  std::vector<std::string> quoted_patterns;
  for (const std::string& pattern : command_patterns())
    quoted_patterns.push_back(shell_quote(pattern));
  return fmt::format("{}", fmt::join(quoted_patterns, separator));
}

// The loop over the words before the cursor; the same text in bash and zsh.
std::string walk() {
  return fill(R"(    if [[ -n $skip ]]; then skip=''; continue; fi
    if [[ -n $ended ]]; then arguments=$((arguments + 1)); continue; fi
    case $word in
      --) ended=1 ;;
      @VALUE_FLAGS@) skip=$word ;;
      -*) ;;
      *)
        case "$name $word" in
          @PATTERNS@) name="${name:+$name }$word" ;;
          *) arguments=$((arguments + 1)) ;;
        esac ;;
    esac
)",
              {{"@VALUE_FLAGS@", fmt::format("{}", fmt::join(value_flags(), "|"))},
               {"@PATTERNS@", joined_patterns("|")}});
}

std::string flag_words(const Command* command) {
  std::string out;
  for (const Flag* flag : visible_flags(command))
    out += fmt::format("{}--{}", out.empty() ? "" : " ", flag->name);
  return out;
}

std::string zsh_item(std::string_view name, std::string_view help) {
  return shell_quote(fmt::format("{}:{}", replace_all(std::string(name), ":", "\\:"), help));
}

}  // namespace

std::string bash_completion() {
  std::string flags = fmt::format("    '') flags={} ;;\n", shell_quote(flag_words(nullptr)));
  for (const Command* command : visible_commands())
    flags += fmt::format("    {}) flags={} ;;\n", shell_quote(command->name),
                         shell_quote(flag_words(command)));
  std::string words;
  for (const auto& [place, list] : command_places()) {
    std::string all;
    for (const Word& word : list) all += fmt::format("{}{}", all.empty() ? "" : " ", word.text);
    words += fmt::format("    {}) list={} ;;\n", shell_quote(place + " 0"), shell_quote(all));
  }
  return fill(R"(# bash completion for plimsoll; written by: plimsoll completion bash
# shellcheck shell=bash

__plimsoll_ask() {
  local line
  while IFS= read -r line; do
    [[ $line == :* ]] || COMPREPLY+=("${line%%$'\t'*}")
  done < <("${COMP_WORDS[0]}" __complete -- "$@" 2>/dev/null)
}

_plimsoll() {
  local -a words=()
  local word name='' skip='' ended='' arguments=0 value='' flags='' list='' source='' glue='' i
  COMPREPLY=()
  # Bash cuts words at '=' and ':'; put them together again.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ ${#words[@]} -gt 0 && ( -n $glue || $word == [=:]* ) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    glue=''
    [[ $word == [=:] ]] && glue=1
  done
  local cur=${words[${#words[@]} - 1]}
  for word in "${words[@]:0:${#words[@]}-1}"; do
@WALK@  done

  if [[ -n $skip ]]; then
    value=$skip
  elif [[ -z $ended && $cur == -*=* ]]; then
    value=${cur%%=*}
    cur=${cur#*=}
  elif [[ -z $ended && $cur == -* ]]; then
    case $name in
@FLAGS@    esac
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
    return
  fi

  if [[ -n $value ]]; then
    case "$name $value" in
@VALUES@    esac
  else
    case "$name $arguments" in
@WORDS@@ARGUMENTS@    esac
  fi
  if [[ -n $list ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$list" -- "$cur")
  elif [[ $source == files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  elif [[ $source == folders ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$cur")
  elif [[ $source == live ]]; then
    __plimsoll_ask "${words[@]}"
    COMPREPLY=("${COMPREPLY[@]#"$value="}")
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
      COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
    fi
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}

complete -F _plimsoll plimsoll kubectl-plimsoll
)",
              {{"@WALK@", walk()},
               {"@FLAGS@", flags},
               {"@VALUES@", value_arms()},
               {"@WORDS@", words},
               {"@ARGUMENTS@", argument_arms()}});
}

std::string zsh_completion() {
  auto items = [](const Command* command) {
    std::string out;
    for (const Flag* flag : visible_flags(command))
      out += fmt::format("\n        {}", zsh_item(fmt::format("--{}", flag->name), flag->help));
    return out;
  };
  std::string flags = fmt::format("      '') flags=({}) ;;\n", items(nullptr));
  for (const Command* command : visible_commands())
    flags += fmt::format("      {}) flags=({}) ;;\n", shell_quote(command->name), items(command));
  std::string words;
  for (const auto& [place, list] : command_places()) {
    std::string all;
    for (const Word& word : list)
      all += fmt::format("\n        {}", zsh_item(word.text, word.summary));
    words += fmt::format("    {}) commands=({}) ;;\n", shell_quote(place + " 0"), all);
  }
  return fill(R"(#compdef plimsoll kubectl-plimsoll
# zsh completion for plimsoll; written by: plimsoll completion zsh

_plimsoll() {
  local word name='' skip='' ended='' arguments=0 value='' list='' source='' line
  local -a flags commands found
  local cur=$words[CURRENT]
  for word in "${(@)words[2,CURRENT-1]}"; do
@WALK@  done

  if [[ -n $skip ]]; then
    value=$skip
  elif [[ -z $ended && $cur == -*=* ]]; then
    value=${cur%%=*}
    compset -P '*='
  elif [[ -z $ended && $cur == -* ]]; then
    case $name in
@FLAGS@    esac
    _describe -o flag flags
    return
  fi

  if [[ -n $value ]]; then
    case "$name $value" in
@VALUES@    esac
  else
    case "$name $arguments" in
@WORDS@@ARGUMENTS@    esac
  fi
  if (( ${#commands} )); then
    _describe command commands
  elif [[ -n $list ]]; then
    found=("${(@s: :)list}")
    compadd -S ' ' -- ${found:#*=}
    compadd -S '' -- ${(M)found:#*=}
  elif [[ $source == files ]]; then
    _files
  elif [[ $source == folders ]]; then
    _files -/
  elif [[ $source == live ]]; then
    for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
      [[ $line == :* ]] || found+=("${${line%%$'\t'*}#$value=}")
    done
    compadd -- $found
  fi
}

if [[ $funcstack[1] == _plimsoll ]]; then
  _plimsoll "$@"
else
  compdef _plimsoll plimsoll kubectl-plimsoll
fi
)",
              {{"@WALK@", walk()},
               {"@FLAGS@", flags},
               {"@VALUES@", value_arms()},
               {"@WORDS@", words},
               {"@ARGUMENTS@", argument_arms()}});
}

std::string fish_completion() {
  std::vector<std::string> patterns;
  for (const std::string& pattern : command_patterns()) patterns.push_back(fish_quote(pattern));
  std::string out = fill(R"(# fish completion for plimsoll; written by: plimsoll completion fish

function __plimsoll_command
    set -l skip 0
    set -l name ''
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case @VALUE_FLAGS@
                set skip 1
            case '-*'
            case '*'
                switch "$name $word"
                    case @PATTERNS@
                        set name (string trim -- "$name $word")
                end
        end
    end
    echo $name
end

function __plimsoll_at
    set -l name (__plimsoll_command)
    test "$name" = "$argv[1]"
end

function __plimsoll_ask
    set -l words (commandline -opc)
    $words[1] __complete -- $words[2..-1] (commandline -ct) 2>/dev/null | string match -v -- ':*' | string replace -r -- '^--[^=]*=' ''
end

complete -c plimsoll -f
)",
                         {{"@VALUE_FLAGS@", fmt::format("{}", fmt::join(value_flags(), " "))},
                          {"@PATTERNS@", fmt::format("{}", fmt::join(patterns, " "))}});
  for (const auto& [place, list] : command_places())
    for (const Word& word : list)
      out += fmt::format("complete -c plimsoll -n {} -a {} -d {}\n",
                         fish_quote(fmt::format("__plimsoll_at {}", fish_quote(place))), word.text,
                         fish_quote(word.summary));
  auto flag_line = [&](const std::string& condition, const Flag& flag, std::string_view choices) {
    out += fmt::format("complete -c plimsoll{} -l {}", condition, flag.name);
    if (flag.letter != 0) out += fmt::format(" -s {}", flag.letter);
    if (!choices.empty())
      out += fmt::format(" -x -a {}", fish_quote(choice_words(choices)));
    else if (flag.live == Live::directory)
      out += " -x -a '(__fish_complete_directories)'";
    else if (flag.live == Live::file)
      out += " -r -F";
    else if (is_live(flag.live))
      out += " -x -a '(__plimsoll_ask)'";
    else if (flag.takes_value())
      out += " -x";
    out += fmt::format(" -d {}\n", fish_quote(flag.help));
  };
  for (const Flag& flag : global_flags())
    if (flag.name != "output") flag_line("", flag, flag.choices);
  for (const Command* command : visible_commands()) {
    std::string condition = fmt::format(
        " -n {}", fish_quote(fmt::format("__plimsoll_at {}", fish_quote(command->name))));
    for (const Flag& flag : command->flags)
      if (!flag.hidden) flag_line(condition, flag, flag.choices);
    if (!command->formats.empty())
      flag_line(condition, *find_flag(nullptr, "output"), command->formats);
    if (command->positionals.empty()) continue;
    const Positional& first = command->positionals.front();
    if (!first.choices.empty())
      out += fmt::format("complete -c plimsoll{} -a {}\n", condition,
                         fish_quote(choice_words(first.choices)));
    else if (first.live == Live::directory)
      out += fmt::format("complete -c plimsoll{} -a '(__fish_complete_directories)'\n", condition);
    else if (is_live(first.live))
      out += fmt::format("complete -c plimsoll{} -a '(__plimsoll_ask)'\n", condition);
  }
  return out;
}

}  // namespace plim::cli
