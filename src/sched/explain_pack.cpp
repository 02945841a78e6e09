#include "sched/explain_pack.hpp"

#include <algorithm>

namespace plim::sched {
namespace {

enum class ScoresAre : std::uint8_t { same, close, other };  // compared with the row before

// Numbers take as few bytes as possible, seven bits each, also small negative ones.
class Packer {
 public:
  Packer() { out_.reserve(2048); }  // enough for most records with 20 rows

  void number(std::int64_t value) {
    auto rest = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
    for (; rest >= 0x80; rest >>= 7) out_.push_back(static_cast<char>(rest | 0x80));
    out_.push_back(static_cast<char>(rest));
  }

  void size(std::size_t value) { number(static_cast<std::int64_t>(value)); }

  void change(std::int64_t from, std::int64_t to) {
    number(static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from)));
  }

  template <class Enum>
  void word(Enum value) {
    number(static_cast<std::int64_t>(value));
  }

  void text(std::string_view value) {
    size(value.size());
    out_ += value;
  }

  // Omits the beginning that it has in common with the text before.
  void text_after(std::string_view before, std::string_view value) {
    const auto common =
        static_cast<std::size_t>(std::ranges::mismatch(before, value).in2 - value.begin());
    size(common);
    text(value.substr(common));
  }

  void texts(const std::vector<std::string>& values) {
    size(values.size());
    std::string_view before;
    for (const std::string& value : values) {
      text_after(before, value);
      before = value;
    }
  }

  std::string take() { return std::string(out_); }  // without spare capacity

 private:
  std::string out_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }

  std::int64_t changed(std::int64_t from) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) +
                                     static_cast<std::uint64_t>(number()));
  }

  std::size_t size() { return static_cast<std::size_t>(number()); }

  // The number of items that follow; each takes at least one byte.
  std::size_t count() { return std::min(size(), rest_.size()); }

  template <class Enum>
  Enum word() {
    return static_cast<Enum>(number());
  }

  std::string_view text() {
    const std::string_view out = rest_.substr(0, size());
    rest_.remove_prefix(out.size());
    return out;
  }

  std::string text_after(std::string_view before) {
    std::string out(before.substr(0, size()));
    out += text();
    return out;
  }

  void texts(std::vector<std::string>& out) {
    out.reserve(count_ahead());
    std::string_view before;
    for (std::size_t i = count(); i > 0; --i) before = out.emplace_back(text_after(before));
  }

 private:
  std::size_t count_ahead() const {
    Unpacker copy(rest_);
    return copy.count();
  }

  std::string_view rest_;
};

bool same_plugins(const std::vector<PluginScore>& a, const std::vector<PluginScore>& b) {
  return std::ranges::equal(a, b, {}, &PluginScore::plugin, &PluginScore::plugin);
}

bool same_scores(const std::vector<PluginScore>& a, const std::vector<PluginScore>& b) {
  const auto same = [](const PluginScore& x, const PluginScore& y) {
    return x.plugin == y.plugin && x.raw == y.raw && x.normalized == y.normalized &&
           x.weighted == y.weighted;
  };
  return std::ranges::equal(a, b, same);
}

// The best nodes are similar: most rows have the same or nearly the same scores as the row before.
void pack_scores(Packer& out, const std::vector<PluginScore>& before,
                 const std::vector<PluginScore>& scores) {
  if (same_scores(before, scores)) return out.word(ScoresAre::same);
  const bool close = same_plugins(before, scores);
  out.word(close ? ScoresAre::close : ScoresAre::other);
  if (!close) out.size(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const PluginScore from = close ? before[i] : PluginScore();
    if (!close) out.word(scores[i].plugin);
    out.change(from.raw, scores[i].raw);
    out.change(from.normalized, scores[i].normalized);
    out.change(from.weighted, scores[i].weighted);
  }
}

void unpack_scores(Unpacker& in, const std::vector<PluginScore>& before,
                   std::vector<PluginScore>& out) {
  const auto are = in.word<ScoresAre>();
  if (are != ScoresAre::other) out = before;
  if (are == ScoresAre::same) return;
  if (are == ScoresAre::other) out.resize(in.count());
  for (PluginScore& score : out) {
    if (are == ScoresAre::other) score.plugin = in.word<PluginId>();
    score.raw = in.changed(score.raw);
    score.normalized = in.changed(score.normalized);
    score.weighted = in.changed(score.weighted);
  }
}

void pack_extenders(Packer& out, const std::vector<ExtenderPoints>& before,
                    const std::vector<ExtenderPoints>& points) {
  out.size(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    out.text_after(i < before.size() ? std::string_view(before[i].extender) : "",
                   points[i].extender);
    out.number(points[i].weight);
    out.number(points[i].raw);
    out.number(points[i].weighted);
  }
}

void unpack_extenders(Unpacker& in, const std::vector<ExtenderPoints>& before,
                      std::vector<ExtenderPoints>& out) {
  out.resize(in.count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].extender = in.text_after(i < before.size() ? std::string_view(before[i].extender) : "");
    out[i].weight = in.number();
    out[i].raw = in.number();
    out[i].weighted = in.number();
  }
}

void pack_rows(Packer& out, const std::vector<ScoredNode>& rows) {
  out.size(rows.size());
  const ScoredNode none;
  const ScoredNode* before = &none;
  for (const ScoredNode& row : rows) {
    out.text_after(before->node, row.node);
    out.change(before->total, row.total);
    out.change(before->missing_bytes, row.missing_bytes);
    pack_scores(out, before->scores, row.scores);
    pack_extenders(out, before->extenders, row.extenders);
    before = &row;
  }
}

void unpack_rows(Unpacker& in, std::vector<ScoredNode>& out) {
  const std::size_t count = in.count();
  out.reserve(count);
  const ScoredNode none;
  for (std::size_t i = 0; i < count; ++i) {
    const ScoredNode& before = i == 0 ? none : out.back();
    ScoredNode row{.node = in.text_after(before.node), .scores = {}};
    row.total = in.changed(before.total);
    row.missing_bytes = in.changed(before.missing_bytes);
    unpack_scores(in, before.scores, row.scores);
    unpack_extenders(in, before.extenders, row.extenders);
    out.push_back(std::move(row));
  }
}

void pack_decision(Packer& out, const Decision& decision) {
  out.word(decision.outcome);
  out.text(decision.node);
  out.text(decision.message);
  out.text(decision.pre_filter_message);
  out.number(decision.pre_filter_code ? static_cast<std::int64_t>(*decision.pre_filter_code) : -1);
  out.size(decision.total_nodes);
  out.size(decision.looked_at);
  out.size(decision.feasible);
  out.number(decision.total);
  out.size(decision.tie_size);
  out.word(decision.tie_rule);
  out.number(decision.missing_bytes);
  pack_rows(out, decision.rows);
  out.size(decision.rejecting_plugins.size());
  for (const PluginId plugin : decision.rejecting_plugins) out.word(plugin);
  out.word(decision.rejected_by_extender);
}

void unpack_decision(Unpacker& in, Decision& out) {
  out.outcome = in.word<Decision::Outcome>();
  out.node = in.text();
  out.message = in.text();
  out.pre_filter_message = in.text();
  if (const std::int64_t code = in.number(); code >= 0)
    out.pre_filter_code = static_cast<RejectCode>(code);
  out.total_nodes = in.size();
  out.looked_at = in.size();
  out.feasible = in.size();
  out.total = in.number();
  out.tie_size = in.size();
  out.tie_rule = in.word<placement::TieRule>();
  out.missing_bytes = in.number();
  unpack_rows(in, out.rows);
  out.rejecting_plugins.resize(in.count());
  for (PluginId& plugin : out.rejecting_plugins) plugin = in.word<PluginId>();
  out.rejected_by_extender = in.number() != 0;
}

void pack_rejected(Packer& out, const std::vector<ExplainRecord::Rejected>& all) {
  out.size(all.size());
  for (const ExplainRecord::Rejected& one : all) {
    out.text(one.plugin);
    out.word(one.code);
    out.text(one.reason);
    out.size(one.count);
    out.texts(one.samples);
    out.texts(one.details);
  }
}

void unpack_rejected(Unpacker& in, std::vector<ExplainRecord::Rejected>& out) {
  out.resize(in.count());
  for (ExplainRecord::Rejected& one : out) {
    one.plugin = in.text();
    one.code = in.word<RejectCode>();
    one.reason = in.text();
    one.count = in.size();
    in.texts(one.samples);
    in.texts(one.details);
  }
}

void pack_extras(Packer& out, const ExplainRecord& record) {
  out.word(record.post_filter.has_value());
  if (record.post_filter) {
    out.text(record.post_filter->message);
    out.text(record.post_filter->nominated);
    out.texts(record.post_filter->victims);
  }
  out.word(record.compat.has_value());
  if (record.compat) {
    out.number(record.compat->total);
    out.size(record.compat->scores.size());
    std::string_view before;
    for (const auto& [node, score] : record.compat->scores) {
      out.text_after(before, node);
      out.number(score);
      before = node;
    }
  }
}

void unpack_extras(Unpacker& in, ExplainRecord& out) {
  if (in.number() != 0) {
    ExplainRecord::PostFilter& made = out.post_filter.emplace();
    made.message = in.text();
    made.nominated = in.text();
    in.texts(made.victims);
  }
  if (in.number() == 0) return;
  ExplainRecord::Compat made;
  made.total = in.number();
  const std::size_t count = in.count();
  made.scores.reserve(count);
  std::string_view before;
  for (std::size_t i = 0; i < count; ++i) {
    std::string node = in.text_after(before);
    before = made.scores.emplace_back(std::move(node), in.number()).first;
  }
  out.compat = std::move(made);
}

PackedKey unpack_key(Unpacker& in) {
  PackedKey out;
  out.ns = in.text();
  out.name = in.text();
  out.uid = in.text();
  out.attempt = in.number();
  return out;
}

}  // namespace

std::string pack(const ExplainRecord& record) {
  Packer out;
  out.text(record.ns);
  out.text(record.name);
  out.text(record.uid);
  out.number(record.attempt);
  out.text(record.profile);
  out.number(record.started.time_since_epoch().count());
  out.number(record.took.count());
  out.size(record.version);
  out.size(record.plugins.size());
  for (const WeightedPlugin& plugin : record.plugins) {
    out.word(plugin.plugin);
    out.number(plugin.weight);
  }
  out.word(record.mode);
  pack_decision(out, record.decision);
  // Without a node it is the decision's message, or begins with it.
  out.text_after(record.decision.message, record.message);
  out.texts(record.details);
  pack_rejected(out, record.rejected);
  pack_extras(out, record);
  out.texts(record.notes);
  return out.take();
}

ExplainRecord unpack(std::string_view packed) {
  Unpacker in(packed);
  ExplainRecord out;
  const PackedKey key = unpack_key(in);
  out.ns = key.ns;
  out.name = key.name;
  out.uid = key.uid;
  out.attempt = key.attempt;
  out.profile = in.text();
  out.started = WallTime(WallTime::duration(in.number()));
  out.took = Nanos(in.number());
  out.version = in.size();
  out.plugins.resize(in.count());
  for (WeightedPlugin& plugin : out.plugins) {
    plugin.plugin = in.word<PluginId>();
    plugin.weight = in.number();
  }
  out.mode = in.word<LocalityMode>();
  unpack_decision(in, out.decision);
  out.message = in.text_after(out.decision.message);
  in.texts(out.details);
  unpack_rejected(in, out.rejected);
  unpack_extras(in, out);
  in.texts(out.notes);
  return out;
}

PackedKey packed_key(std::string_view packed) {
  Unpacker in(packed);
  return unpack_key(in);
}

}  // namespace plim::sched
