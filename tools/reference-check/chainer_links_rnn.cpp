// Entries of recurrent links.

#include "catenary/links/rnn.h"
#include "chainer_links.h"

namespace reference {

namespace L = catenary::links;

namespace {

template <class Link>
Link sized(const Positions& a, Keywords&) {
  return Link(a.integer(0), a.integer(1));
}

/// One step from the state h.
template <class Link>
std::vector<Variable> call_cell(const Link& link, const Inputs& x) {
  return {link(x.at(0), x.at(1))};
}
/// A tree node with two children. Inputs: their c, their h, and the node's x.
template <class Link>
std::vector<Variable> call_node(const Link& link, const Inputs& x) {
  return both(link({x.at(0), x.at(1)}, {x.at(2), x.at(3)}, x.at(4)));
}

}  // namespace

void add_rnn_links(LinkTable& table) {
  table.add("LSTM", sized<L::LSTM>);
  table.add("StatefulGRU", sized<L::StatefulGRU>);
  table.add("StatefulMGU", sized<L::StatefulMGU>);
  table.add("StatefulPeepholeLSTM", sized<L::StatefulPeepholeLSTM>);
  table.add("StatefulZoneoutLSTM", sized<L::StatefulZoneoutLSTM>);
  table.add_called("StatelessLSTM", sized<L::StatelessLSTM>,
                   [](const L::StatelessLSTM& link, const Inputs& x) { return both(link(x.at(0), x.at(1), x.at(2))); });
  table.add_called("StatelessGRU", sized<L::StatelessGRU>, call_cell<L::StatelessGRU>);
  table.add_called("StatelessMGU", sized<L::StatelessMGU>, call_cell<L::StatelessMGU>);
  table.add_called("ChildSumTreeLSTM", sized<L::ChildSumTreeLSTM>, call_node<L::ChildSumTreeLSTM>);
  table.add_called(
      "NaryTreeLSTM",
      [](const Positions& a, Keywords& k) {
        return L::NaryTreeLSTM(a.integer(0), a.integer(1), k.integer("n_ary", 2));
      },
      call_node<L::NaryTreeLSTM>);
}

}  // namespace reference
