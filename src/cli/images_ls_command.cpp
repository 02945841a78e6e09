#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/duration.hpp"
#include "base/utf8.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/image_rows.hpp"
#include "cli/interruptible.hpp"
#include "cli/printer.hpp"
#include "images/publisher.hpp"

namespace plim::cli {
namespace {

constexpr auto kLookAgain = std::chrono::seconds(2);
constexpr std::size_t kImagesShown = 3;  // per layer

struct ImageLists {
  json::value nodes, inventories;
  std::string note = {};  // why there are no inventories
};

// Lists images, repeatedly with --watch. Belongs to one loop.
class ImagesLister {
 public:
  ImagesLister(Context& context, Printer printer, kube::Config config)
      : context_(context),
        printer_(std::move(printer)),
        config_(std::move(config)),
        filter_{.node = context.values.text("node"), .image = context.values.text("image")} {}

  Outcome<int> run() {
    Loop loop;
    auto outcome = run_until_signal(loop, main());
    client_.reset();
    if (!outcome) return kInterrupted;
    PLIM_CLI_CHECK(std::move(*outcome));
    return 0;
  }

 private:
  Task<Outcome<void>> main() {
    Executor loop = co_await current_loop();
    auto client = kube::Client::create(loop, config_);
    if (!client) co_return tl::unexpected(config_failure(client.error()));
    client_ = std::move(*client);
    Outcome<void> out;
    if (context_.values.boolean("watch"))
      out = co_await watch();
    else
      out = co_await show();
    co_return out;
  }

  Task<Result<ImageLists>> ask() {
    ImageLists out;
    const kube::ListOptions options;
    PLIM_CO_TRY(out.nodes, co_await client_->list(kube::resources::nodes, options));
    auto inventories = co_await client_->list(images::kNodeImageInventories, options);
    // Without the resource, or without permission to read it, the node status is the only source.
    if (inventories)
      out.inventories = std::move(*inventories);
    else if (inventories.error().code == Code::not_found)
      out.note =
          "the cluster has no inventories; the list has the 50 largest images that each kubelet "
          "reports; plimsoll install crds images adds inventories";
    else if (inventories.error().code == Code::forbidden)
      out.note =
          fmt::format("no permission to read inventories; the list has what kubelets report: {}",
                      inventories.error().message);
    else
      co_return inventories.error();
    co_return out;
  }

  Task<Outcome<ImageRows>> look() {
    auto lists = co_await ask();
    if (!lists) co_return tl::unexpected(request_failure(lists.error(), describe(config_)));
    auto rows = image_rows(lists->nodes, lists->inventories, system_clock().wall(), filter_);
    if (!rows) co_return usage_failure(Plm::bad_flag_value, "--image: " + rows.error().message);
    if (!filter_.node.empty() && std::ranges::count(rows->nodes, filter_.node) == 0)
      co_return tl::unexpected(Failure{.code = Plm::not_found,
                                       .exit = 4,
                                       .what = fmt::format("node {} does not exist", filter_.node),
                                       .tried = describe(config_)});
    if (!lists->note.empty()) rows->notes.insert(rows->notes.begin(), std::move(lists->note));
    co_return std::move(*rows);
  }

  Task<Outcome<void>> show() {
    auto rows = co_await look();
    if (!rows) co_return tl::unexpected(std::move(rows).error());
    tell_notes(*rows);
    const bool layers = context_.values.boolean("layers");
    if (!printer_.wants_table()) {
      json::array items;
      if (layers)
        for (const LayerRow& row : rows->layers) items.push_back(row.to_json());
      else
        for (const ImageRow& row : rows->images) items.push_back(row.to_json());
      co_return printer_.print(json::object{{"items", std::move(items)}});
    }
    if (layers ? rows->layers.empty() : rows->images.empty()) {
      (void)context_.world.err.write(
          fmt::format("no {} found{}\n", layers ? "layers" : "images",
                      layers ? "; plimsoll agent --images reports them" : ""));
      co_return Outcome<void>{};
    }
    co_return printer_.print_table(layers ? layer_table(*rows) : image_table(rows->images, ""));
  }

  void tell_notes(const ImageRows& rows) {
    for (const std::string& note : rows.notes)
      (void)context_.world.err.write(fmt::format("note: {}\n", escape_controls(note)));
  }

  static Table image_table(const std::vector<ImageRow>& rows, std::string_view event) {
    std::vector<Table::Column> columns;
    if (!event.empty()) columns.push_back({"EVENT"});
    for (const char* name : {"NODE", "IMAGE", "TAG", "IMAGE ID", "SIZE"}) columns.push_back({name});
    for (const char* name : {"SHARED", "LAYERS", "PINNED"})
      columns.push_back({name, Table::Shown::wide});
    columns.push_back({"SOURCE"});
    columns.push_back({"AGE"});
    Table out(std::move(columns));
    for (const ImageRow& row : rows) {
      std::vector<Table::Cell> cells;
      if (!event.empty()) cells.emplace_back(event);
      for (const std::string& text :
           {row.node, row.image, row.tag, row.id.empty() ? "-" : short_id(row.id),
            image_size_text(row.size), row.shared ? image_size_text(*row.shared) : "-",
            row.layers > 0 ? std::to_string(row.layers) : "-",
            std::string(row.pinned ? "yes" : "no"), row.source,
            row.age ? human_duration(*row.age) : "-"})
        cells.emplace_back(text);
      out.add(std::move(cells));
    }
    return out;
  }

  Table layer_table(const ImageRows& rows) const {
    Table out({{"NODE"}, {"LAYER"}, {"SIZE"}, {"IMAGES"}});
    for (const LayerRow& row : rows.layers) {
      std::vector<std::string> names = row.images;
      const std::size_t more = names.size() > kImagesShown ? names.size() - kImagesShown : 0;
      if (!printer_.is_wide() && more > 0) {
        names.resize(kImagesShown);
        names.push_back(fmt::format("{} more", more));
      }
      std::string size = image_size_text(row.size);
      if (row.fetched) size = fmt::format("{} of {}", image_size_text(*row.fetched), size);
      out.add({row.node, printer_.is_wide() ? row.digest : short_id(row.digest), size,
               row.fetched ? std::string("<pulling>") : fmt::format("{}", fmt::join(names, ", "))});
    }
    return out;
  }

  Task<Outcome<void>> watch() {
    std::map<std::string, ImageRow> held;
    bool first = true;
    for (;;) {
      auto rows = co_await look();
      if (rows) {
        if (first) tell_notes(*rows);
        auto told = tell_changes(held, *rows, first);
        if (!told) co_return told;
        first = false;
      } else if (first) {
        co_return tl::unexpected(std::move(rows).error());
      }
      // The server may be unavailable for a while: retry.
      co_await system_clock().sleep(kLookAgain);
    }
  }

  Outcome<void> tell_changes(std::map<std::string, ImageRow>& held, const ImageRows& rows,
                             bool first) {
    std::map<std::string, ImageRow> now;
    std::vector<ImageRow> added, removed;
    for (const ImageRow& row : rows.images) {
      now.emplace(row.key(), row);
      if (!held.contains(row.key())) added.push_back(row);
    }
    for (const auto& [key, row] : held)
      if (!now.contains(key)) removed.push_back(row);
    held = std::move(now);
    if (auto said = tell("REMOVED", removed); !said) return said;
    return tell(first ? "HELD" : "ADDED", added);
  }

  Outcome<void> tell(std::string_view event, const std::vector<ImageRow>& rows) {
    if (rows.empty()) return {};
    if (printer_.wants_table()) {
      const Table::Style style{
          .wide = printer_.is_wide(), .headers = !headers_done_, .color = false};
      headers_done_ = true;
      return context_.world.out.write(image_table(rows, event).render(style));
    }
    for (const ImageRow& row : rows) {
      json::object item = row.to_json();
      item["event"] = event;
      if (auto said = printer_.print_next(std::move(item)); !said) return said;
    }
    return {};
  }

  Context& context_;
  Printer printer_;
  kube::Config config_;
  ImageFilter filter_;
  std::shared_ptr<kube::Client> client_;
  bool headers_done_ = false;
};

}  // namespace

Outcome<int> run_images(Context& context) {
  if (context.values.boolean("watch") && context.values.boolean("layers"))
    return usage_failure(Plm::wrong_arguments, "--watch cannot be combined with --layers");
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  return ImagesLister(context, std::move(printer), std::move(config)).run();
}

}  // namespace plim::cli
