"""Messages of Caffe's model files: reading and writing of protocol buffers, and their text."""

import functools
import struct
import types

import numpy

# message: field number kind. * marks repeated fields, = a default that is not zero. Numbers in brackets are an enumeration's words
_SCHEMAS = '''
NetParameter: name 1 string, layers 2 *V1LayerParameter, input 3 *string, input_dim 4 *int, input_shape 8 *BlobShape, layer 100 *LayerParameter
BlobShape: dim 1 *int
BlobProto: num 1 int, channels 2 int, height 3 int, width 4 int, data 5 *float, diff 6 *float, shape 7 BlobShape, double_data 8 *double
LayerParameter: name 1 string, type 2 string, bottom 3 *string, top 4 *string, blobs 7 *BlobProto, phase 10 [TRAIN TEST],
 concat_param 104 ConcatParameter, convolution_param 106 ConvolutionParameter, dropout_param 108 DropoutParameter,
 eltwise_param 110 EltwiseParameter, inner_product_param 117 InnerProductParameter, lrn_param 118 LRNParameter,
 pooling_param 121 PoolingParameter, relu_param 123 ReLUParameter, softmax_param 125 SoftmaxParameter, slice_param 126 SliceParameter,
 reshape_param 133 ReshapeParameter, batch_norm_param 139 BatchNormParameter, scale_param 142 ScaleParameter, input_param 143 InputParameter
V1LayerParameter: bottom 2 *string, top 3 *string, name 4 string, type 5 int, blobs 6 *BlobProto, concat_param 9 ConcatParameter,
 convolution_param 10 ConvolutionParameter, dropout_param 12 DropoutParameter, inner_product_param 17 InnerProductParameter,
 lrn_param 18 LRNParameter, pooling_param 19 PoolingParameter, eltwise_param 24 EltwiseParameter, relu_param 30 ReLUParameter,
 slice_param 31 SliceParameter, softmax_param 39 SoftmaxParameter
InputParameter: shape 1 *BlobShape
ConcatParameter: concat_dim 1 int =1, axis 2 int =1
ConvolutionParameter: num_output 1 int, bias_term 2 bool =1, pad 3 *int, kernel_size 4 *int, group 5 int =1, stride 6 *int, pad_h 9 int, pad_w 10 int,
 kernel_h 11 int, kernel_w 12 int, stride_h 13 int, stride_w 14 int, axis 16 int =1, dilation 18 *int
DropoutParameter: dropout_ratio 1 float =0.5
EltwiseParameter: operation 1 [PROD SUM MAX] =1, coeff 2 *float
InnerProductParameter: num_output 1 int, bias_term 2 bool =1, axis 5 int =1, transpose 6 bool
LRNParameter: local_size 1 int =5, alpha 2 float =1, beta 3 float =0.75, norm_region 4 [ACROSS_CHANNELS WITHIN_CHANNEL], k 5 float =1
PoolingParameter: pool 1 [MAX AVE STOCHASTIC], kernel_size 2 int, stride 3 int =1, pad 4 int, kernel_h 5 int, kernel_w 6 int, stride_h 7 int,
 stride_w 8 int, pad_h 9 int, pad_w 10 int, global_pooling 12 bool, round_mode 13 [CEIL FLOOR]
ReLUParameter: negative_slope 1 float
SoftmaxParameter: engine 1 [DEFAULT CAFFE CUDNN], axis 2 int =1
SliceParameter: slice_dim 1 int =1, slice_point 2 *int, axis 3 int =1
ReshapeParameter: shape 1 BlobShape, axis 2 int, num_axes 3 int =-1
BatchNormParameter: use_global_stats 1 bool, moving_average_fraction 2 float =0.999, eps 3 float =1e-5
ScaleParameter: axis 1 int =1, num_axes 2 int =1, bias_term 4 bool
'''
_NUMBERS = {'float': '<f', 'double': '<d'}
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5


class _Field:
    """A field of a message."""

    def __init__(self, text):
        name, number, kind, *default = text.replace('[', '[ ').split()
        self.name, self.number = name, int(number)
        self.words = ()
        if kind == '[':
            end = [word.endswith(']') for word in default].index(True) + 1
            self.words, default, kind = tuple(word.rstrip(']') for word in default[:end]), default[end:], 'int'
        self.repeated, self.kind = kind.startswith('*'), kind.lstrip('*')
        self.is_message = self.kind not in ('int', 'bool', 'string', *_NUMBERS)
        self.default = '' if self.kind == 'string' else {'bool': bool, 'int': int}.get(self.kind, float)(float(default[0][1:] if default else 0))


@functools.cache
def _fields(kind):
    """Returns the fields of a message by name."""
    for entry in _SCHEMAS.strip().replace('\n ', ' ').splitlines():
        name, _, fields = entry.partition(': ')
        if name == kind:
            return {field.name: field for field in map(_Field, fields.split(','))}
    raise KeyError(kind)


class _Messages(list):
    """A repeated field of messages."""

    def __init__(self, kind):
        super().__init__()
        self._kind = kind

    def add(self):
        self.append(Message(self._kind))
        return self[-1]


class Message:
    """A message with the fields of its kind as attributes."""

    def __init__(self, kind):
        self.__dict__.update(_kind=kind, _values={}, _is_given=False)

    def __getattr__(self, name):
        field = _fields(self._kind).get(name)
        if field is None:
            raise AttributeError('%s has no field %s' % (self._kind, name))
        if name not in self._values:
            if not field.repeated and not field.is_message:
                return field.default
            self._values[name] = ([] if not field.is_message else _Messages(field.kind)) if field.repeated else Message(field.kind)
        return self._values[name]

    def __setattr__(self, name, value):
        if name not in _fields(self._kind):
            raise AttributeError('%s has no field %s' % (self._kind, name))
        self._values[name] = value

    def HasField(self, name):
        """Returns whether a field has a value that is not its default."""
        value = self._values.get(name)
        if isinstance(value, Message):
            return value._is_given or any(value.HasField(key) for key in value._values)
        return value is not None and (not isinstance(value, (list, numpy.ndarray)) or len(value) > 0)

    def _given(self):
        """Returns the fields that have values, with the values, by their numbers."""
        pairs = [(field, self._values[name]) for name, field in _fields(self._kind).items() if self.HasField(name)]
        return sorted(pairs, key=lambda pair: pair[0].number)

    def SerializeToString(self):
        """Returns the bytes of the message."""
        return b''.join([_written(field, value) for field, value in self._given()])

    def ParseFromString(self, data):
        """Reads the bytes of a message. Unknown fields are skipped."""
        fields = {field.number: field for field in _fields(self._kind).values()}
        data = memoryview(data)
        place = 0
        while place < len(data):
            key, place = _read_varint(data, place)
            wire, field = key & 7, fields.get(key >> 3)
            value, place = _read_value(data, place, wire)
            if field is not None:
                self._take(field, wire, value)
        return self

    MergeFromString = ParseFromString

    def _take(self, field, wire, value):
        """Stores a value that was read."""
        if field.is_message:
            target = getattr(self, field.name).add() if field.repeated else getattr(self, field.name)
            target.__dict__['_is_given'] = True
            target.ParseFromString(value)
        elif field.repeated and wire == _BYTES and field.kind != 'string':
            found = _unpacked(field.kind, value)
            old = self._values.get(field.name, [])
            self._values[field.name] = found if len(old) == 0 else numpy.concatenate([old, found])
        elif field.repeated:
            self._values[field.name] = [*getattr(self, field.name), _scalar(field.kind, value)]
        else:
            self._values[field.name] = _scalar(field.kind, value)

    def __str__(self):
        return ''.join(self._lines(''))

    def _lines(self, indent):
        for field, value in self._given():
            for one in (value if field.repeated else (value,)):
                if field.is_message:
                    yield '%s%s {\n' % (indent, field.name)
                    yield from one._lines(indent + '  ')
                    yield indent + '}\n'
                else:
                    yield '%s%s: %s\n' % (indent, field.name, _text(field, one))


def _text(field, value):
    if field.words:
        return field.words[value]
    if field.kind == 'bool':
        return 'true' if value else 'false'
    return '"%s"' % value.replace('\\', '\\\\').replace('"', '\\"') if field.kind == 'string' else repr(value)


def varint(number):
    """Returns the bytes of an integer of protobuf."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def sized(number, data):
    """Returns a field of bytes with their count."""
    return varint(number << 3 | _BYTES) + varint(len(data)) + data


def _written(field, value):
    """Returns the bytes of a field. Numbers that repeat are packed."""
    values = value if field.repeated else [value]
    if field.is_message:
        return b''.join([sized(field.number, one.SerializeToString()) for one in values])
    if field.kind == 'string':
        return b''.join([sized(field.number, one.encode()) for one in values])
    if field.kind in _NUMBERS:
        data = numpy.asarray(values, _NUMBERS[field.kind]).tobytes()
        wire = _FOUR if field.kind == 'float' else _EIGHT
    else:
        data, wire = b''.join([varint(int(one)) for one in values]), _VARINT
    return sized(field.number, data) if field.repeated else varint(field.number << 3 | wire) + data


def _read_varint(data, place):
    number = shift = 0
    while True:
        if place >= len(data) or shift > 63:
            raise ValueError('the file is not a model of Caffe, or it is cut off')
        byte = data[place]
        number |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return number, place


def _read_value(data, place, wire):
    """Returns a value as an int or as bytes, and the place after it."""
    if wire == _VARINT:
        return _read_varint(data, place)
    if wire == _BYTES:
        size, place = _read_varint(data, place)
    else:
        size = {_EIGHT: 8, _FOUR: 4}.get(wire)
    if size is None or place + size > len(data):
        raise ValueError('the file is not a model of Caffe, or it is cut off')
    return data[place:place + size], place + size


def _scalar(kind, value):
    if kind == 'string':
        return bytes(value).decode()
    if kind in _NUMBERS:
        return struct.unpack(_NUMBERS[kind], value)[0]
    number = value - (1 << 64) if value >> 63 else value
    return bool(number) if kind == 'bool' else number


def _unpacked(kind, data):
    """Returns the numbers of a packed field."""
    if kind in _NUMBERS:
        return numpy.frombuffer(data, _NUMBERS[kind])
    found, place = [], 0
    while place < len(data):
        number, place = _read_varint(data, place)
        found.append(_scalar(kind, number))
    return found


# the messages that scripts make
caffe_pb = types.SimpleNamespace(**{name: functools.partial(Message, name) for name in (
    'NetParameter', 'LayerParameter', 'V1LayerParameter', 'BlobProto', 'BlobShape')})
