#include "sched/explain_table.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/table.hpp"
#include "base/utf8.hpp"

namespace plim::sched {
namespace {

std::int64_t number_at(const json::value& value, std::initializer_list<std::string_view> path) {
  return int_at(value, path).value_or(0);
}

std::string clean_at(const json::value& value, std::initializer_list<std::string_view> path) {
  return escape_controls(text_at(value, path));
}

const json::value* score_of_plugin(const json::value& row, std::string_view plugin) {
  for (const json::value& score : list_at(row, {"scores"}))
    if (text_at(score, {"plugin"}) == plugin) return &score;
  return nullptr;
}

const json::value* row_of_node(const json::value& record, std::string_view node) {
  for (const json::value& row : list_at(record, {"rows"}))
    if (text_at(row, {"node"}) == node) return &row;
  return nullptr;
}

// Only plugins that scored a node.
std::vector<const json::value*> shown_plugins(const json::value& record) {
  std::vector<const json::value*> out;
  for (const json::value& plugin : list_at(record, {"plugins"}))
    for (const json::value& row : list_at(record, {"rows"}))
      if (score_of_plugin(row, text_at(plugin, {"name"})) != nullptr) {
        out.push_back(&plugin);
        break;
      }
  return out;
}

// The plugin with the largest difference between the first and the second node.
std::string decisive_plugin(const json::value& first, const json::value& second) {
  std::string best;
  std::int64_t most = 0;
  for (const json::value& score : list_at(first, {"scores"})) {
    const json::value* other = score_of_plugin(second, text_at(score, {"plugin"}));
    const std::int64_t ahead =
        number_at(score, {"weighted"}) - (other != nullptr ? number_at(*other, {"weighted"}) : 0);
    if (ahead <= most) continue;
    most = ahead;
    best = clean_at(score, {"plugin"});
  }
  return best;
}

std::string result_line(const json::value& record) {
  const std::string_view outcome = text_at(record, {"outcome"});
  std::string node = clean_at(record, {"node"});
  if (outcome == "single-feasible")
    return fmt::format("{}   the only feasible node: scoring was skipped", node);
  if (outcome != "bound") return fmt::format("{}: {}", outcome, clean_at(record, {"message"}));
  const json::array& rows = list_at(record, {"rows"});
  const json::value* winner = row_of_node(record, text_at(record, {"node"}));
  if (winner == nullptr) return node;
  std::string line = fmt::format("{}  {}", node, number_at(*winner, {"total"}));
  const json::value* second = nullptr;
  for (const json::value& row : rows)
    if (&row != winner && second == nullptr) second = &row;
  if (second == nullptr) return line;
  if (find(record, {"recomputed"}) != nullptr)
    return line + fmt::format("   best other node now {} {}", clean_at(*second, {"node"}),
                              number_at(*second, {"total"}));
  line +=
      fmt::format("   runner-up {} {}", clean_at(*second, {"node"}), number_at(*second, {"total"}));
  if (const std::int64_t tied = number_at(record, {"tie", "size"}); tied > 1)
    return line +
           fmt::format("   {} nodes were equal: {}", tied, clean_at(record, {"tie", "rule"}));
  if (const std::string plugin = decisive_plugin(*winner, *second); !plugin.empty())
    line += fmt::format("   decided by {}", plugin);
  return line;
}

std::string nodes_line(const json::value& record) {
  const std::int64_t total = number_at(record, {"nodes", "total"});
  const std::int64_t feasible = number_at(record, {"nodes", "feasible"});
  const std::int64_t scored = number_at(record, {"nodes", "scored"});
  std::int64_t refused = 0;
  for (const json::value& one : list_at(record, {"rejected"})) refused += number_at(one, {"count"});
  std::string how = scored == 0          ? "none scored"
                    : scored == feasible ? "all scored"
                                         : fmt::format("{} scored", scored);
  std::string line =
      fmt::format("{} = {} feasible ({}) + {} rejected", total, feasible, how, refused);
  if (const std::int64_t rest = total - feasible - refused; rest > 0)
    line += fmt::format(" + {} not looked at", rest);
  return line;
}

// Column headers are in upper case, but names of plugins and nodes keep their case.
constexpr Table::Style kAsNamed{.headers = false};

Table named_columns(std::vector<Table::Cell> names) {
  Table table(std::vector<Table::Column>(names.size()));
  table.add(std::move(names));
  return table;
}

std::string details_of(const json::value& row) {
  std::string out;
  for (const json::value& score : list_at(row, {"scores"}))
    if (std::string text = clean_at(score, {"detail"}); !text.empty())
      out += (out.empty() ? "" : "; ") + text;
  return out;
}

std::string scored_nodes(const json::value& record, std::size_t most) {
  const json::array& rows = list_at(record, {"rows"});
  if (rows.empty()) return "";
  const auto plugins = shown_plugins(record);
  std::vector<Table::Cell> headers{"NODE", "TOTAL"};
  for (const json::value* plugin : plugins) {
    const std::string mode = clean_at(*plugin, {"mode"});
    headers.emplace_back(fmt::format("{} x{}{}", clean_at(*plugin, {"name"}),
                                     number_at(*plugin, {"weight"}),
                                     mode.empty() ? "" : fmt::format(" (mode {})", mode)));
  }
  headers.emplace_back("");
  Table table = named_columns(std::move(headers));
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    std::vector<Table::Cell> cells{text_at(rows[i], {"node"}),
                                   std::to_string(number_at(rows[i], {"total"}))};
    for (const json::value* plugin : plugins) {
      const json::value* score = score_of_plugin(rows[i], text_at(*plugin, {"name"}));
      cells.emplace_back(score != nullptr ? std::to_string(number_at(*score, {"normalized"}))
                                          : "-");
    }
    cells.emplace_back(details_of(rows[i]));
    table.add(std::move(cells));
  }
  return table.render(kAsNamed);
}

std::string detail_at(const json::value& rejected, std::size_t sample) {
  const json::array& details = list_at(rejected, {"details"});
  return sample < details.size() && details[sample].is_string()
             ? escape_controls(details[sample].get_string())
             : "";
}

std::string reason_of(const json::value& rejected, std::size_t sample) {
  const std::string detail = detail_at(rejected, sample);
  return fmt::format("{}: {}{}", clean_at(rejected, {"plugin"}), clean_at(rejected, {"reason"}),
                     detail.empty() ? "" : fmt::format(" [{}]", detail));
}

std::string refused_nodes(const json::value& record, std::size_t most) {
  Table table({{"REJECTED"}, {"REASON"}});
  std::size_t shown = 0;
  for (const json::value& one : list_at(record, {"rejected"})) {
    const json::array& samples = list_at(one, {"samples"});
    std::size_t here = 0;
    for (; here < samples.size() && shown < most; ++here, ++shown)
      table.add({samples[here].is_string() ? std::string(samples[here].get_string()) : "",
                 reason_of(one, here)});
    if (const std::int64_t rest = number_at(one, {"count"}) - static_cast<std::int64_t>(here);
        rest > 0)
      table.add({fmt::format("({} more)", rest),
                 fmt::format("{}: {}", clean_at(one, {"plugin"}), clean_at(one, {"reason"}))});
  }
  return table.empty() ? "" : table.render({});
}

}  // namespace

std::string explain_table(const json::value& record, const ExplainTableOptions& options) {
  std::string out = fmt::format(
      "POD     {}/{}  profile {}  attempt {}  {}us\n", clean_at(record, {"pod", "namespace"}),
      clean_at(record, {"pod", "name"}), clean_at(record, {"profile"}),
      number_at(record, {"attempt"}), number_at(record, {"durationMicros"}));
  out += fmt::format("RESULT  {}\nNODES   {}\n", result_line(record), nodes_line(record));
  out += scored_nodes(record, options.rows);
  if (const auto rows = list_at(record, {"rows"}).size(); rows > options.rows)
    out += fmt::format("({} more; --all-nodes shows them)\n", rows - options.rows);
  out += refused_nodes(record, options.rows);
  if (const json::value* post = find(record, {"postFilter"}); post != nullptr)
    if (const std::string nominated = clean_at(*post, {"nominated"}); !nominated.empty())
      out += fmt::format("PREEMPT {} of {} pods to make room\n", nominated,
                         list_at(*post, {"victims"}).size());
  for (const json::value& note : list_at(record, {"notes"}))
    if (note.is_string()) out += fmt::format("NOTE    {}\n", escape_controls(note.get_string()));
  return out;
}

bool explain_knows(const json::value& record, std::string_view node) {
  if (text_at(record, {"node"}) == node || row_of_node(record, node) != nullptr) return true;
  return std::ranges::any_of(list_at(record, {"rejected"}), [&](const json::value& one) {
    return std::ranges::count(list_at(one, {"samples"}), json::value(node)) > 0;
  });
}

namespace {

std::string why_not_text(const json::value& record, std::string_view node) {
  const std::string name = escape_controls(node);
  for (const json::value& one : list_at(record, {"rejected"})) {
    const json::array& samples = list_at(one, {"samples"});
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (samples[i].is_string() && std::string_view(samples[i].get_string()) == node)
        return fmt::format("{} was rejected by {}\n", name, reason_of(one, i));
  }
  const std::string taken = clean_at(record, {"node"});
  const json::value* row = row_of_node(record, node);
  if (node == text_at(record, {"node"}) && !taken.empty())
    return fmt::format("{} is the node that was taken\n", name);
  const json::value* winner = row_of_node(record, text_at(record, {"node"}));
  if (row == nullptr || winner == nullptr)
    return fmt::format("{} is not among the nodes that were kept of this decision\n", name);
  const std::int64_t behind = number_at(*winner, {"total"}) - number_at(*row, {"total"});
  const bool is_recomputed = find(record, {"recomputed"}) != nullptr;
  std::string out =
      behind < 0
          ? fmt::format("{} is now {} ahead of {}, where the pod is: {} against {}\n", name,
                        -behind, taken, number_at(*row, {"total"}), number_at(*winner, {"total"}))
      : behind == 0 && is_recomputed
          ? fmt::format("{} is equal to {} with {}\n", name, taken, number_at(*row, {"total"}))
      : behind == 0
          ? fmt::format("{} was equal to {} with {}; the rule between equals is {}\n", name, taken,
                        number_at(*row, {"total"}), clean_at(record, {"tie", "rule"}))
          : fmt::format("{} was feasible, but {} behind {}: {} against {}\n", name, behind, taken,
                        number_at(*row, {"total"}), number_at(*winner, {"total"}));
  Table table = named_columns({"PLUGIN", "WEIGHT", taken, name, "DIFFERENCE"});
  for (const json::value& plugin : list_at(record, {"plugins"})) {
    const json::value* one = score_of_plugin(*winner, text_at(plugin, {"name"}));
    const json::value* other = score_of_plugin(*row, text_at(plugin, {"name"}));
    if (one == nullptr || other == nullptr) continue;
    table.add({text_at(plugin, {"name"}), std::to_string(number_at(plugin, {"weight"})),
               std::to_string(number_at(*one, {"normalized"})),
               std::to_string(number_at(*other, {"normalized"})),
               std::to_string(number_at(*one, {"weighted"}) - number_at(*other, {"weighted"}))});
  }
  out += table.render(kAsNamed);
  if (const std::string details = details_of(*row); !details.empty())
    out += fmt::format("{}: {}\n", name, details);
  return out;
}

}  // namespace

std::string explain_why_not(const json::value& record, std::string_view node) {
  std::string out = why_not_text(record, node);
  if (find(record, {"recomputed"}) != nullptr)
    for (const json::value& note : list_at(record, {"notes"}))
      if (note.is_string()) out += fmt::format("NOTE    {}\n", escape_controls(note.get_string()));
  return out;
}

}  // namespace plim::sched
