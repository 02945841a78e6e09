#include "agent/metric_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include "base/exposition.hpp"
#include "base/result.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

struct Pair {
  std::string_view key, value;  // the value still escaped
};

// Removes `key="value"` and the comma after it from the front.
Pair next_pair(std::string_view& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) {
    text = {};
    return {};
  }
  std::size_t end = equals + 2;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  end = std::min(end, text.size());
  Pair out{text.substr(0, equals), text.substr(equals + 2, end - equals - 2)};
  text.remove_prefix(std::min(text.size(), end + 1));
  if (text.starts_with(',')) text.remove_prefix(1);
  return out;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

int compare_values(std::string_view a, std::string_view b) {
  const bool first = is_number(a), second = is_number(b);
  if (first != second) return first ? -1 : 1;
  if (first) {
    const auto significant = [](std::string_view text) {
      return text.substr(std::min(text.find_first_not_of('0'), text.size()));
    };
    std::string_view x = significant(a), y = significant(b);
    if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
    if (int order = x.compare(y); order != 0) return order;
  }
  return a.compare(b);
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    return;
  }
  char text[32];
  // Prints whole numbers without an exponent, as far as a double is exact.
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  auto end = whole ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(value))
                   : std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

void append_number(std::string& out, std::uint64_t value) {
  char text[24];
  auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

void append_stamp(std::string& out, std::int64_t timestamp_ms) {
  if (timestamp_ms >= 0) {
    out += ' ';
    append_number(out, static_cast<std::uint64_t>(timestamp_ms));
  }
  out += '\n';
}

void append_help(std::string& out, std::string_view help) {
  for (char c : help) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
}

std::string only(std::string_view labels, const std::vector<std::string>& kept) {
  std::string out;
  while (!labels.empty()) {
    const char* from = labels.data();
    Pair pair = next_pair(labels);
    if (std::ranges::find(kept, pair.key) == kept.end()) continue;
    if (!out.empty()) out += ',';
    out.append(from, pair.key.size() + pair.value.size() + 3);
  }
  return out;
}

}  // namespace

bool labels_before(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    Pair first = next_pair(a), second = next_pair(b);
    if (int order = first.key.compare(second.key); order != 0) return order < 0;
    if (int order = compare_values(first.value, second.value); order != 0) return order < 0;
  }
  return a.empty() && !b.empty();
}

MetricTable::Family MetricTable::family(std::string_view name, MetricType type,
                                        std::string_view help) {
  if (auto known = by_name_.find(name); known != by_name_.end()) return known->second;
  const auto id = static_cast<Family>(families_.size());
  families_.push_back({.name = std::string(name), .help = std::string(help), .type = type});
  by_name_.emplace(name, id);
  return id;
}

MetricTable::LabelsId MetricTable::add_labels(const Labels& labels) {
  std::string text = metrics::render_labels({labels.begin(), labels.end()});
  ranked_ = false;
  if (free_labels_.empty()) {
    labels_.push_back(std::move(text));
    return static_cast<LabelsId>(labels_.size() - 1);
  }
  const LabelsId id = free_labels_.back();
  free_labels_.pop_back();
  labels_[id] = std::move(text);
  return id;
}

void MetricTable::drop_labels(LabelsId labels) {
  labels_[labels] = {};
  free_labels_.push_back(labels);
}

MetricTable::Series MetricTable::add(Family family, LabelsId labels) {
  Series id = 0;
  if (free_series_.empty()) {
    id = static_cast<Series>(series_.size());
    series_.push_back({.family = family, .labels = labels});
  } else {
    id = free_series_.back();
    free_series_.pop_back();
    series_[id] = {.family = family, .labels = labels};
  }
  families_[family].order.push_back(id);
  families_[family].sorted = false;
  return id;
}

// Removes the series from the family's order at once: its number may be reused before the next
// sort.
void MetricTable::drop(Series series) {
  PLIM_ASSERT(series_[series].used);
  series_[series].used = false;
  series_[series].kind = Kind::absent;
  std::erase(families_[series_[series].family].order, series);
  free_series_.push_back(series);
}

void MetricTable::begin() {
  for (SeriesData& data : series_) data.kind = Kind::absent;
}

// Computes the rank of every label set, so that series sort by numbers.
void MetricTable::rank_labels() {
  std::vector<LabelsId> order(labels_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order,
                    [&](LabelsId a, LabelsId b) { return labels_before(labels_[a], labels_[b]); });
  ranks_.resize(labels_.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranks_[order[i]] = static_cast<std::uint32_t>(i);
  ranked_ = true;
  for (FamilyData& family : families_) family.sorted = false;
}

void MetricTable::sort() {
  if (!ranked_) rank_labels();
  for (FamilyData& family : families_) {
    if (family.sorted) continue;
    std::ranges::sort(family.order, {}, [&](Series id) { return ranks_[series_[id].labels]; });
    family.sorted = true;
  }
}

void MetricTable::render_samples(std::string& out, const FamilyData& family,
                                 std::int64_t timestamp_ms) const {
  for (Series id : family.order) {
    const SeriesData& data = series_[id];
    if (data.kind == Kind::absent) continue;
    out += family.name;
    if (const std::string& labels = labels_[data.labels]; !labels.empty()) {
      out += '{';
      out += labels;
      out += '}';
    }
    out += ' ';
    if (data.kind == Kind::whole)
      append_number(out, data.whole);
    else
      append_number(out, data.real);
    append_stamp(out, timestamp_ms);
  }
}

bool MetricTable::render_filtered(std::string& out, const FamilyData& family,
                                  const RenderOptions& options) const {
  const auto before = [](const std::string& a, const std::string& b) {
    return labels_before(a, b);
  };
  std::map<std::string, Series, decltype(before)> kept(before);
  std::size_t present = 0;
  for (Series id : family.order) {
    if (series_[id].kind == Kind::absent) continue;
    ++present;
    kept[only(labels_[series_[id].labels], *options.labels)] = id;
  }
  for (const auto& [labels, id] : kept) {
    out += family.name;
    if (!labels.empty()) out.append("{").append(labels).append("}");
    out += ' ';
    const SeriesData& data = series_[id];
    if (data.kind == Kind::whole)
      append_number(out, data.whole);
    else
      append_number(out, data.real);
    append_stamp(out, options.timestamp_ms);
  }
  return kept.size() < present;
}

bool MetricTable::render(std::string& out, const RenderOptions& options) {
  sort();
  bool merged = false, first = true;
  for (const auto& [name, id] : by_name_) {
    const FamilyData& family = families_[id];
    if (options.names != nullptr && std::ranges::find(*options.names, name) == options.names->end())
      continue;
    const bool any = std::ranges::any_of(
        family.order, [&](Series series) { return series_[series].kind != Kind::absent; });
    if (!any) continue;
    if (!first) out += '\n';
    first = false;
    if (!family.help.empty()) {
      out.append("# HELP ").append(family.name).append(" ");
      append_help(out, family.help);
      out += '\n';
    }
    out.append("# TYPE ").append(family.name);
    out += family.type == MetricType::counter ? " counter\n" : " gauge\n";
    if (options.labels != nullptr)
      merged = render_filtered(out, family, options) || merged;
    else
      render_samples(out, family, options.timestamp_ms);
  }
  return merged;
}

}  // namespace plim::agent
